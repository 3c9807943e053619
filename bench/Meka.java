import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;
import meka.classifiers.multilabel.Evaluation;
import meka.classifiers.multilabel.MultiLabelClassifier;
import meka.core.MLUtils;
import meka.core.Result;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Ten-fold cross-validation of twenty bagged classifier chains: Meka FILE.arff [knn]. Chains of naive
 * Bayes, twice in one JVM, or of the five nearest neighbours, once: beside them the start is nothing.
 *
 * cold: CPU seconds of the whole process, its threads and its start included, up to the end of the
 * first; warm: of the second alone. The losses are those of the last.
 */
public class Meka {
  static final String LEARNER = "meka.classifiers.multilabel.meta.BaggingML";
  static final String OPTIONS = "-I 20 -W meka.classifiers.multilabel.CC -- -W ";

  public static void main(String[] arguments) throws Exception {
    boolean once = arguments.length > 1;
    String base = once ? "weka.classifiers.lazy.IBk -- -K 5" : "weka.classifiers.bayes.NaiveBayes";
    Instances data = new DataSource(arguments[0]).getDataSet();
    MLUtils.prepareData(data);
    data.randomize(new Random(1));
    Result result = crossValidate(data, base);
    double cold = cpu();
    String warm = "";
    if (!once) {
      result = crossValidate(data, base);
      warm = String.format(", \"warm\": %.2f", cpu() - cold);
    }
    System.out.printf("{\"cold\": %.2f%s, \"hamming\": %s, \"macro_f1\": %s}%n", cold, warm,
        mean(result, "Hamming loss"), 1 - mean(result, "F1 (macro averaged by label)"));
  }

  static Result crossValidate(Instances data, String base) throws Exception {
    Object learner = Utils.forName(MultiLabelClassifier.class, LEARNER, Utils.splitOptions(OPTIONS + base));
    return Evaluation.cvModel((MultiLabelClassifier) learner, data, 10, "0.5", "3");
  }

  static double mean(Result result, String measure) {
    return ((Number) result.getMeasurement(measure)).doubleValue();
  }

  static double cpu() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }
}
