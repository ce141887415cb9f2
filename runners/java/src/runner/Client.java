package runner;

/** A driver with the workers that use it. */
interface Client {
    /** A command for the worker that its place belongs to. */
    void take(Command command);

    /** Closes its connections. */
    void close();
}
