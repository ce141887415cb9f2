package peers;

import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's core workload with the keys that every client here takes: the records' exact zipfian law.
 *
 * <p>YCSB's own chooser draws ranks for 10¹⁰ items and hashes them onto the records, so that the most popular record has
 * half the share that it has elsewhere: that would be other work for the server.
 */
public final class ExactWorkload extends CoreWorkload {
  @Override
  public void init(Properties properties) throws WorkloadException {
    super.init(properties);
    if (Boolean.parseBoolean(properties.getProperty(Client.DO_TRANSACTIONS_PROPERTY, "true"))) {
      keychooser = new Chooser(new Records(Integer.parseInt(properties.getProperty(Client.RECORD_COUNT_PROPERTY))));
    }
  }

  private static final class Chooser extends NumberGenerator {
    private final Records records;

    Chooser(Records records) {
      this.records = records;
    }

    @Override
    public Number nextValue() {
      Long number = records.number(ThreadLocalRandom.current());
      setLastValue(number);
      return number;
    }

    @Override
    public double mean() {
      throw new UnsupportedOperationException("nothing asks for the mean of a law of popularity");
    }
  }
}
