// lookup NAME A|AAAA|both|SRV: what Go's own resolver finds, as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
)

type result struct {
	Found []string `json:"found,omitempty"`
	Error string   `json:"error,omitempty"`
}

func find(name, want string) ([]string, error) {
	found := []string{}
	if want == "SRV" {
		_, records, err := net.DefaultResolver.LookupSRV(context.Background(), "", "", name)
		for _, record := range records {
			found = append(found, record.Target)
		}
		return found, err
	}
	networks := map[string]string{"A": "ip4", "AAAA": "ip6", "both": "ip"}
	addresses, err := net.DefaultResolver.LookupIP(context.Background(), networks[want], name)
	for _, address := range addresses {
		found = append(found, address.String())
	}
	return found, err
}

func words(err error) string {
	var failure *net.DNSError
	if !errors.As(err, &failure) {
		return err.Error()
	}
	switch {
	case failure.IsNotFound:
		return "not found: " + failure.Err
	case failure.IsTimeout:
		return "timeout: " + failure.Err
	case failure.IsTemporary:
		return "temporary: " + failure.Err
	}
	return failure.Err
}

func main() {
	found, err := find(os.Args[1], os.Args[2])
	said := result{Found: found}
	if err != nil {
		said = result{Error: words(err)}
	}
	if json.NewEncoder(os.Stdout).Encode(said) != nil {
		os.Exit(1)
	}
}
