package runner;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.IMetricsTracker;
import com.zaxxer.hikari.pool.HikariPool;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.Document;

/** JDBC with MariaDB's or PostgreSQL's driver, and HikariCP as the pool. */
final class Jdbc extends Blocking {
    private static final int PING_WITHIN_S = 1;
    private static final String LOST_STATE = "08000";

    private final HikariDataSource pool;
    private final boolean isPostgres;
    private final String driver;
    private final String version;
    private final Map<String, Sql> texts = new ConcurrentHashMap<>();

    Jdbc(Document said, Use use, Frames frames) {
        super(frames);
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        URI address = URI.create(said.getString("uri"));
        Map<String, String> options = Main.options(said.getString("uri"));
        isPostgres = address.getScheme().equals("postgres");
        int timeoutMs = said.get("operation_timeout_ms", Number.class).intValue();
        int connectMs = Integer.parseInt(options.get("connectTimeoutMS"));
        List<String> setup = said.getList("setup", String.class, List.of());
        HikariConfig config = new HikariConfig();
        config.setPoolName("brimline-jdbc");
        config.setMaximumPoolSize(Integer.parseInt(options.get("maxPoolSize")));
        config.setConnectionTimeout(Math.max(connectMs, 250));
        config.setDataSource(new Source(address, options, setup, connectMs, timeoutMs));
        config.setMetricsTrackerFactory((name, stats) -> new IMetricsTracker() {
            @Override
            public void recordConnectionCreatedMillis(long tookMs) {
                use.created();
            }

            @Override
            public void recordConnectionAcquiredNanos(long waitedNs) {
                use.taken(waitedNs);
            }

            @Override
            public void recordConnectionTimeout() {
                use.refused(TimeUnit.MILLISECONDS.toNanos(config.getConnectionTimeout()));
            }
        });
        try {
            pool = new HikariDataSource(config);
        } catch (HikariPool.PoolInitializationException error) {
            throw new IllegalStateException(Done.root(error).getMessage(), error);
        }
        use.countsOpen(() -> pool.getHikariPoolMXBean().getTotalConnections());
        try (Connection connection = pool.getConnection()) {
            DatabaseMetaData about = connection.getMetaData();
            driver = about.getDriverName();
            version = about.getDriverVersion();
        } catch (SQLException error) {
            throw new IllegalStateException(error.getMessage(), error);
        }
        start(said.get("workers", Number.class).intValue());
    }

    @Override
    public String driver() {
        return driver;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public void end() {
        // A server rolls back what a connection that is closed has open.
    }

    @Override
    public void close() {
        pool.close();
    }

    @Override
    Worker worker() {
        return new Held();
    }

    /** A worker's transaction has a connection to itself. */
    private final class Held implements Worker {
        private Connection connection;
        private boolean isInside;

        @Override
        public Call prepare(Command command) {
            Document body = command.body;
            if (body.containsKey("ping")) {
                return this::ping;
            }
            String text = body.getString("statement");
            Sql sql = texts.computeIfAbsent(text, each -> new Sql(each, isPostgres));
            List<?> values = (List<?>) body.get("values");
            List<?> rows = (List<?>) body.get("rows");
            return () -> run(sql, values, rows, command.wantsDocuments);
        }

        private Done run(Sql sql, List<?> values, List<?> rows, boolean wantsRow) throws SQLException {
            if (connection == null) {
                connection = pool.getConnection();
            } else if (sql.begins) {
                plain("ROLLBACK");
            }
            boolean isOver = !sql.begins && (sql.ends || !isInside);
            try {
                Done done = values == null && rows == null ? plain(sql.text) : prepared(sql, values, rows, wantsRow);
                isInside = sql.begins || !sql.ends && isInside;
                return done;
            } catch (SQLException error) {
                isOver |= sql.begins || isLost(error);
                throw error;
            } finally {
                if (isOver) {
                    release();
                }
            }
        }

        private Done ping() throws SQLException {
            try (Connection any = pool.getConnection()) {
                if (!any.isValid(PING_WITHIN_S)) {
                    throw new SQLException("the connection is lost", LOST_STATE);
                }
                return Done.answered(Done.ok());
            }
        }

        private void release() throws SQLException {
            isInside = false;
            Connection over = connection;
            connection = null;
            over.close();
        }

        private Done plain(String text) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(text);
                return Done.answered(answer(Math.max(0, statement.getLargeUpdateCount()), 0, null));
            }
        }

        private Done prepared(Sql sql, List<?> values, List<?> rows, boolean wantsRow) throws SQLException {
            String text = rows == null ? sql.text : sql.withRows(rows);
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                if (rows == null) {
                    for (int place = 0; place < sql.order.length; place++) {
                        Columns.set(statement, place + 1, values.get(sql.order[place]), isPostgres);
                    }
                } else {
                    int place = 0;
                    for (Object row : rows) {
                        for (Object value : (List<?>) row) {
                            Columns.set(statement, ++place, value, isPostgres);
                        }
                    }
                }
                long affected = 0;
                int count = 0;
                BsonDocument first = null;
                for (boolean hasRows = statement.execute(); ; hasRows = statement.getMoreResults()) {
                    if (!hasRows) {
                        long changed = statement.getLargeUpdateCount();
                        if (changed < 0) {
                            break;
                        }
                        affected += changed;
                        continue;
                    }
                    try (ResultSet found = statement.getResultSet()) {
                        Columns columns = new Columns(found);
                        while (found.next()) {
                            count++;
                            if (wantsRow && first == null) {
                                first = columns.document(found);
                            } else {
                                columns.read(found);
                            }
                        }
                    }
                }
                affected += sql.writes ? count : 0;
                return new Done(Done.ANSWERED, answer(affected, count, first), count);
            }
        }
    }

    private static BsonDocument answer(long affected, int count, BsonDocument first) {
        return Done.ok()
                .append("rows", new BsonArray(first == null ? Collections.emptyList() : List.of(first)))
                .append("affected", new BsonInt64(affected))
                .append("n", new BsonInt64(count));
    }

    /** Whether there is no connection any more. */
    private static boolean isLost(SQLException error) {
        return String.valueOf(error.getSQLState()).startsWith(LOST_STATE.substring(0, 2)) || Done.root(error) instanceof IOException;
    }

    /** Whether it is the pool's own: it has no connection to give. */
    private boolean isOfPool(SQLException error) {
        return String.valueOf(error.getMessage()).startsWith(pool.getPoolName());
    }

    @Override
    Done failed(Exception error) {
        if (!(error instanceof SQLException sql)) {
            return new Done(Done.REFUSED, Done.words(error), 0);
        }
        if (error instanceof SQLTransientConnectionException && isOfPool(sql)) {
            boolean isGone = error.getCause() != null || pool.getHikariPoolMXBean().getTotalConnections() == 0;
            return new Done(isGone ? Done.LOST : Done.NO_CONNECTION, Done.words(error), 0);
        }
        if (Done.root(error) instanceof SocketTimeoutException) {
            return new Done(Done.TIMED_OUT, Done.words(error), 0);
        }
        if (isLost(sql)) {
            return new Done(Done.LOST, Done.words(error), 0);
        }
        if (!Columns.isOfServer(sql)) {
            return new Done(Done.REFUSED, Done.words(error), 0);
        }
        return Done.answered(new BsonDocument("ok", new BsonInt32(0))
                .append("code", new BsonInt32(sql.getErrorCode()))
                .append("codeName", new BsonString(String.valueOf(sql.getSQLState())))
                .append("errmsg", new BsonString(String.valueOf(sql.getMessage()))));
    }
}
