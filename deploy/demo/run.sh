# Serve the demo cluster (deploy/demo/*.yaml) with the blocks of Corefile.example, on ports that need no privilege.
set -eu

hints() {
    cat <<'HINTS'

pydns serves the cluster described in deploy/demo/*.yaml on 127.0.0.1:1053 (UDP and TCP). Change a file and see.
Try, in another terminal:

  dig @127.0.0.1 -p 1053 web.shop.svc.cluster.local            a Service: its cluster IP
  dig @127.0.0.1 -p 1053 db.shop.svc.cluster.local             a headless Service: its Pods
  dig @127.0.0.1 -p 1053 db-0.db.shop.svc.cluster.local        a Pod of a StatefulSet
  dig @127.0.0.1 -p 1053 _http._tcp.web.shop.svc.cluster.local SRV
  dig @127.0.0.1 -p 1053 store.default.svc.cluster.local       an ExternalName
  dig @127.0.0.1 -p 1053 -x 10.96.0.1                          a reverse name
  curl http://127.0.0.1:18080/health
  curl http://127.0.0.1:18181/ready
  curl http://127.0.0.1:19153/metrics

Stop it with Ctrl-C.

HINTS
}

pidfile=$(mktemp)  # pydns fills it once it serves, and removes it at its end
while kill -0 $$ 2>/dev/null; do
    if [ -s "$pidfile" ]; then hints; exit; fi
    sleep 0.1
done && rm -f "$pidfile" &
exec "${PYDNS:-.venv/bin/pydns}" -conf deploy/demo/Corefile --manifests deploy/demo -pidfile "$pidfile"
