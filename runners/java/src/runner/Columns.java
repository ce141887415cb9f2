package runner;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Date;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.json.JsonParseException;
import org.bson.types.Binary;
import org.bson.types.Decimal128;
import org.postgresql.util.PSQLException;

/** The columns of a result, and values on their way to a database. */
final class Columns {
    private final String[] names;
    private final boolean[] areJson;

    Columns(ResultSet found) throws SQLException {
        ResultSetMetaData about = found.getMetaData();
        names = new String[about.getColumnCount()];
        areJson = new boolean[names.length];
        for (int place = 0; place < names.length; place++) {
            names[place] = about.getColumnLabel(place + 1);
            areJson[place] = about.getColumnTypeName(place + 1).toLowerCase(java.util.Locale.ROOT).startsWith("json");
        }
    }

    /** Has the driver make values of the row's columns, as an application does. */
    void read(ResultSet row) throws SQLException {
        for (int place = 1; place <= names.length; place++) {
            row.getObject(place);
        }
    }

    /** The row as a document. */
    BsonDocument document(ResultSet row) throws SQLException {
        BsonDocument document = new BsonDocument();
        for (int place = 0; place < names.length; place++) {
            document.put(names[place], value(row, place));
        }
        return document;
    }

    private BsonValue value(ResultSet row, int place) throws SQLException {
        Object found = row.getObject(place + 1);
        if (found == null) {
            return BsonNull.VALUE;
        }
        if (areJson[place]) {
            String json = row.getString(place + 1);
            try {
                return BsonDocument.parse("{\"v\":" + json + "}").get("v");
            } catch (JsonParseException isText) {
                return new BsonString(json);
            }
        }
        if (found instanceof Boolean value) {
            return BsonBoolean.valueOf(value);
        }
        if (found instanceof Integer || found instanceof Short || found instanceof Byte) {
            return new BsonInt32(((Number) found).intValue());
        }
        if (found instanceof Long value) {
            return new BsonInt64(value);
        }
        if (found instanceof Double || found instanceof Float) {
            return new BsonDouble(((Number) found).doubleValue());
        }
        if (found instanceof BigDecimal value) {
            try {
                return new BsonDecimal128(new Decimal128(value));
            } catch (NumberFormatException tooLong) {
                return new BsonDouble(value.doubleValue());
            }
        }
        if (found instanceof byte[] bytes) {
            return new BsonBinary(bytes);
        }
        if (found instanceof Timestamp) {
            // With a time zone it is an instant; without, brimline's dates are of UTC.
            boolean hasZone = row.getMetaData().getColumnTypeName(place + 1).equals("timestamptz");
            Instant at = hasZone
                    ? ((Timestamp) found).toInstant()
                    : row.getObject(place + 1, LocalDateTime.class).toInstant(ZoneOffset.UTC);
            return new BsonDateTime(at.toEpochMilli());
        }
        if (found instanceof java.sql.Date) {
            LocalDate date = row.getObject(place + 1, LocalDate.class);
            return new BsonDateTime(date.atStartOfDay().toInstant(ZoneOffset.UTC).toEpochMilli());
        }
        return new BsonString(row.getString(place + 1));
    }

    /** Gives a statement one of its values. */
    static void set(PreparedStatement statement, int place, Object value, boolean isPostgres) throws SQLException {
        if (value == null) {
            statement.setNull(place, Types.NULL);
        } else if (value instanceof Integer number) {
            statement.setInt(place, number);
        } else if (value instanceof Long number) {
            statement.setLong(place, number);
        } else if (value instanceof Double number) {
            statement.setDouble(place, number);
        } else if (value instanceof Boolean is) {
            statement.setBoolean(place, is);
        } else if (value instanceof Binary bytes) {
            statement.setBytes(place, bytes.getData());
        } else if (value instanceof Date date) {
            LocalDateTime at = LocalDateTime.ofInstant(date.toInstant(), ZoneOffset.UTC);
            statement.setObject(place, isPostgres ? at.atOffset(ZoneOffset.UTC) : at);
        } else if (value instanceof Document decimal) {
            String digits = decimal.getString("decimal");
            try {
                statement.setBigDecimal(place, new BigDecimal(digits));
            } catch (NumberFormatException isNone) {
                statement.setString(place, digits);
            }
        } else {
            statement.setString(place, (String) value);
        }
    }

    /** Whether the server said so, and not the driver. */
    static boolean isOfServer(SQLException error) {
        return error instanceof PSQLException postgres
                ? postgres.getServerErrorMessage() != null
                : error.getErrorCode() > 0;
    }
}
