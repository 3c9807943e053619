import com.sun.management.OperatingSystemMXBean;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import meka.classifiers.multilabel.MultiLabelClassifier;
import meka.core.MLEvalUtils;
import meka.core.MLUtils;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * One fold of MEKA's ensemble of classifier chains: MekaFold DATA.arff TEST-ROWS OUT.csv BASE [OPTION ...].
 *
 * Ten chains in random orders, each on a bootstrap sample, as MEKA's BaggingML has them by default. The
 * threshold is MEKA's default, too: PCut1, the one that gives the tested rows as many labels on average
 * as the training rows have. Writes 0 or 1 for each label and then the mean of the members' answers, and
 * prints the CPU seconds of training and of predicting, those of the JVM's own threads included.
 */
public class MekaFold {
  public static void main(String[] arguments) throws Exception {
    Instances data = new DataSource(arguments[0]).getDataSet();
    // prepareData moves the labels, which are the last columns, to the front, and alters their names.
    Instances header = new Instances(data, 0);
    MLUtils.prepareData(data);
    int labels = data.classIndex();
    int first = header.numAttributes() - labels;
    Set<Integer> tested = new HashSet<>();
    for (String line : Files.readAllLines(Path.of(arguments[1]))) {
      if (!line.isBlank()) tested.add(Integer.valueOf(line.trim()));
    }
    Instances train = new Instances(data, 0);
    Instances test = new Instances(data, 0);
    for (int row = 0; row < data.numInstances(); row++) {
      (tested.contains(row) ? test : train).add(data.instance(row));
    }
    StringBuilder options = new StringBuilder("-I 10 -W meka.classifiers.multilabel.CC -- -W " + arguments[3]);
    if (arguments.length > 4) options.append(" --");
    for (int at = 4; at < arguments.length; at++) options.append(" ").append(arguments[at]);
    MultiLabelClassifier learner = (MultiLabelClassifier) Utils.forName(MultiLabelClassifier.class,
        "meka.classifiers.multilabel.meta.BaggingML", Utils.splitOptions(options.toString()));

    double start = cpu();
    learner.buildClassifier(train);
    double trained = cpu();
    ArrayList<double[]> shares = new ArrayList<>();
    for (int row = 0; row < test.numInstances(); row++) {
      shares.add(learner.distributionForInstance(test.instance(row)));
    }
    double threshold = Double.parseDouble(MLEvalUtils.getThreshold(shares, train, "PCut1"));
    double predicted = cpu();

    try (PrintWriter out = new PrintWriter(arguments[2])) {
      StringBuilder line = new StringBuilder();
      for (int label = 0; label < labels; label++) line.append(quoted(header.attribute(first + label).name())).append(',');
      for (int label = 0; label < labels; label++) line.append(quoted(header.attribute(first + label).name() + ":probability")).append(',');
      out.println(line.substring(0, line.length() - 1));
      for (double[] of : shares) {
        line.setLength(0);
        for (int label = 0; label < labels; label++) line.append(of[label] >= threshold ? "1," : "0,");
        for (int label = 0; label < labels; label++) line.append(Math.min(1, Math.max(0, of[label]))).append(',');
        out.println(line.substring(0, line.length() - 1));
      }
    }
    System.out.printf("{\"train\": %.3f, \"predict\": %.3f}%n", trained - start, predicted - trained);
  }

  static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  static double cpu() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }
}
