import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Lookup NAME: what the JVM's InetAddress finds, as one line of JSON (java.net.preferIPv4Stack=true: A alone). */
public final class Lookup {
    public static void main(String[] words) {
        try {
            System.out.println(Arrays.stream(InetAddress.getAllByName(words[0]))
                .map(address -> '"' + address.getHostAddress() + '"')
                .collect(Collectors.joining(", ", "{\"found\": [", "]}")));
        } catch (UnknownHostException error) {
            String text = String.valueOf(error.getMessage());
            System.out.println("{\"error\": \"" + text.substring(text.indexOf(": ") + 1).strip() + "\"}");
        }
    }
}
