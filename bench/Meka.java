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
 * Ten-fold cross-validation of twenty bagged classifier chains of naive Bayes, twice in one JVM.
 *
 * cold: CPU seconds of the whole process, its threads and its start included, up to the end of the
 * first; warm: of the second alone. The losses are those of the second.
 */
public class Meka {
  static final String LEARNER = "meka.classifiers.multilabel.meta.BaggingML";
  static final String OPTIONS = "-I 20 -W meka.classifiers.multilabel.CC -- -W weka.classifiers.bayes.NaiveBayes";

  public static void main(String[] arguments) throws Exception {
    Instances data = new DataSource(arguments[0]).getDataSet();
    MLUtils.prepareData(data);
    data.randomize(new Random(1));
    crossValidate(data);
    double cold = cpu();
    Result result = crossValidate(data);
    double warm = cpu() - cold;
    System.out.printf("{\"cold\": %.2f, \"warm\": %.2f, \"hamming\": %s, \"macro_f1\": %s}%n", cold, warm,
        mean(result, "Hamming loss"), 1 - mean(result, "F1 (macro averaged by label)"));
  }

  static Result crossValidate(Instances data) throws Exception {
    Object learner = Utils.forName(MultiLabelClassifier.class, LEARNER, Utils.splitOptions(OPTIONS));
    return Evaluation.cvModel((MultiLabelClassifier) learner, data, 10, "0.5", "3");
  }

  static double mean(Result result, String measure) {
    return ((Number) result.getMeasurement(measure)).doubleValue();
  }

  static double cpu() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }
}
