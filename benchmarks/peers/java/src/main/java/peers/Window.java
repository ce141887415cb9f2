package peers;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import org.HdrHistogram.Histogram;

/** Owns the measured window and what is said about it on standard output: ready, begin, end, the result. */
final class Window {
  private static final int SIGNIFICANT_DIGITS = 3;
  // Not System.out, which YCSB's peer has turned away.
  private static final PrintStream RUNNER = new PrintStream(new FileOutputStream(FileDescriptor.out), true);

  private Window() {}

  static Histogram histogram() {
    return new Histogram(SIGNIFICANT_DIGITS);
  }

  static void say(String word) {
    RUNNER.println(word);
    RUNNER.flush();
  }

  /** Lets the load run through warm-up and window. */
  static void pass(Arguments arguments, Runnable onBegin, Runnable onEnd) throws InterruptedException {
    say("ready");
    sleep(arguments.warmupSeconds());
    onBegin.run();
    say("begin");
    sleep(arguments.measuredSeconds());
    onEnd.run();
    say("end");
  }

  /** Prints the result and waits until the runner has read what it wants of this process. */
  static void report(long operations, long failed, long windowNs, Histogram latencies, long unitNs, String versions)
      throws IOException {
    say(
        String.format(
            "{\"operations\": %d, \"failed\": %d, \"window_ns\": %d, \"p50_ns\": %s, \"p99_ns\": %s, \"versions\": {%s}}",
            operations,
            failed,
            windowNs,
            quantile(latencies, 50, unitNs),
            quantile(latencies, 99, unitNs),
            versions + ", \"java\": \"" + Runtime.version() + "\""));
    System.in.read();
  }

  private static String quantile(Histogram latencies, double percentile, long unitNs) {
    boolean known = latencies != null && latencies.getTotalCount() > 0;
    return known ? Long.toString(latencies.getValueAtPercentile(percentile) * unitNs) : "null";
  }

  private static void sleep(double seconds) throws InterruptedException {
    Thread.sleep(Math.round(seconds * 1e3));
  }
}
