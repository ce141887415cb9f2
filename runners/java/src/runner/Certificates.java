package runner;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** What an address says of TLS, as Java takes it: the driver reads no PEM files, and applications give it a context. */
final class Certificates {
    private static final Pattern PART = Pattern.compile("-----BEGIN ([A-Z ]+)-----([^-]*)-----END \\1-----");
    private static final char[] NO_PASSWORD = {};

    private Certificates() {}

    /** The context of what `options` name; Java's own stores where they name nothing. */
    static SSLContext context(Map<String, String> options) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(options.get("tlsCertificateKeyFile")), trusted(options), null);
            return context;
        } catch (GeneralSecurityException | IOException error) {
            throw new IllegalArgumentException("TLS: " + error.getMessage(), error);
        }
    }

    private static String text(String file) throws IOException {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException error) {
            throw new IOException(file + " can't be read", error);
        }
    }

    private static TrustManager[] trusted(Map<String, String> options) throws GeneralSecurityException, IOException {
        if (options.containsKey("tlsInsecure")) {
            return new TrustManager[] {new Anyone()};
        }
        String file = options.get("tlsCAFile");
        if (file == null) {
            return null;
        }
        KeyStore store = store();
        for (Certificate each : certificates(text(file))) {
            store.setCertificateEntry("ca" + store.size(), each);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static KeyManager[] keys(String file) throws GeneralSecurityException, IOException {
        if (file == null) {
            return null;
        }
        String text = text(file);
        KeyStore store = store();
        store.setKeyEntry("client", key(text), NO_PASSWORD, certificates(text).toArray(new Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static PrivateKey key(String text) throws GeneralSecurityException {
        for (Matcher part = PART.matcher(text); part.find(); ) {
            if (part.group(1).equals("PRIVATE KEY")) {
                PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(part.group(2)));
                for (String algorithm : new String[] {"EC", "RSA", "EdDSA"}) {
                    try {
                        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
                    } catch (InvalidKeySpecException other) {
                        continue;
                    }
                }
            }
        }
        throw new GeneralSecurityException(
                "Java reads a key as PKCS #8 alone, BEGIN PRIVATE KEY; openssl pkcs8 -topk8 -nocrypt makes one");
    }

    private static Collection<? extends Certificate> certificates(String text) throws GeneralSecurityException {
        StringBuilder found = new StringBuilder();
        for (Matcher part = PART.matcher(text); part.find(); ) {
            if (part.group(1).equals("CERTIFICATE")) {
                found.append(part.group()).append('\n');
            }
        }
        byte[] bytes = found.toString().getBytes(StandardCharsets.US_ASCII);
        return CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(bytes));
    }

    private static KeyStore store() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        return store;
    }

    /** Takes any server for itself, as tlsInsecure asks. */
    private static final class Anyone extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
