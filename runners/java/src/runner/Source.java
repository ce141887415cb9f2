package runner;

import java.io.PrintWriter;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** New connections for the pool, each with the settings of the plan. */
final class Source implements DataSource {
    private final String url;
    private final Properties properties = new Properties();
    private final List<String> setup;
    private final int timeoutMs;

    Source(URI address, Map<String, String> options, List<String> setup, int connectMs, int timeoutMs) {
        this.setup = setup;
        this.timeoutMs = timeoutMs;
        boolean isPostgres = address.getScheme().equals("postgres");
        String database = address.getRawPath().isEmpty() ? "/" : address.getRawPath();
        url = "jdbc:" + (isPostgres ? "postgresql" : "mariadb") + "://" + address.getHost() + ":" + address.getPort() + database;
        if (address.getRawUserInfo() != null) {
            String[] login = address.getRawUserInfo().split(":", 2);
            properties.put("user", plain(login[0]));
            if (login.length > 1) {
                properties.put("password", plain(login[1]));
            }
        }
        if (options.containsKey("tlsCertificateKeyFile")) {
            throw new IllegalArgumentException("JDBC's drivers take no certificate of a client from a PEM file");
        }
        String ca = options.get("tlsCAFile");
        boolean isSecure = options.containsKey("tls");
        boolean takesAny = options.containsKey("tlsInsecure");
        if (isPostgres) {
            properties.put("connectTimeout", String.valueOf(Math.max(1, (connectMs + 999) / 1000)));
            properties.put("stringtype", "unspecified");
            properties.put("ApplicationName", "brimline-jdbc");
            properties.put("sslmode", !isSecure ? "disable" : takesAny ? "require" : "verify-full");
            if (ca != null) {
                properties.put("sslrootcert", ca);
            } else if (isSecure && !takesAny) {
                properties.put("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
            }
        } else {
            properties.put("connectTimeout", String.valueOf(connectMs));
            properties.put("useServerPrepStmts", "true");
            properties.put("sslMode", !isSecure ? "disable" : takesAny ? "trust" : "verify-full");
            if (ca != null) {
                properties.put("serverSslCert", ca);
            }
        }
    }

    private static String plain(String encoded) {
        return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = DriverManager.getConnection(url, properties);
        try (Statement statement = connection.createStatement()) {
            connection.setNetworkTimeout(Runnable::run, timeoutMs);
            for (String text : setup) {
                statement.execute(text);
            }
        } catch (SQLException error) {
            connection.close();
            throw error;
        }
        return connection;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> kind) throws SQLException {
        throw new SQLException("this wraps nothing");
    }

    @Override
    public boolean isWrapperFor(Class<?> kind) {
        return false;
    }
}
