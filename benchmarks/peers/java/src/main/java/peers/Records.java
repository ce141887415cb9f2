package peers;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Owns which loaded record an operation takes: exact zipfian popularity. */
final class Records {
  private static final double THETA = 0.99;
  private static final long SCATTER = 2_654_435_761L;

  private final double[] cumulative;

  Records(int count) {
    cumulative = new double[count];
    double sum = 0;
    for (int rank = 0; rank < count; rank++) {
      sum += Math.pow(rank + 1, -THETA);
      cumulative[rank] = sum;
    }
  }

  /** The number of a loaded record, the popular ones more often. */
  long number(RandomGenerator random) {
    double wanted = random.nextDouble() * cumulative[cumulative.length - 1];
    int found = Arrays.binarySearch(cumulative, wanted);
    int rank = Math.min(found < 0 ? -found - 1 : found, cumulative.length - 1);
    return rank * SCATTER % cumulative.length;
  }
}
