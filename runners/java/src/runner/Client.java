package runner;

/** A driver with the workers that use it. */
interface Client {
    /** A command for the worker that its place belongs to. */
    void take(Command command);

    /** Ends its transactions, in a second and a half at most, and begins no more commands. */
    void end();

    /** Closes its connections. */
    void close();

    /** The driver's name. */
    String driver();

    /** The driver's version. */
    default String version() {
        return com.mongodb.internal.build.MongoDriverVersion.VERSION;
    }
}
