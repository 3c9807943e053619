import java.io.File;
import java.nio.file.Files;
import java.util.*;
import java.util.regex.*;
import weka.classifiers.AbstractClassifier;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.lazy.IBk;
import weka.core.*;
import weka.core.converters.ConverterUtils.DataSource;
import weka.core.neighboursearch.LinearNNSearch;

/**
 * Writes what WEKA 3.9.7 estimates for single labels: its NaiveBayes with default options, with
 * supervised discretization (-D) or with kernels (-K), for crates/labelchain/tests/bayes_agrees.rs, or
 * its IBk of so many neighbours and default options otherwise, for
 * crates/labelchain/tests/neighbours_agree.rs.
 *
 * <pre>
 *   pip download --no-deps --no-binary :all: python-weka-wrapper3==0.3.3   # its sdist holds weka.jar
 *   java -cp weka.jar testdata/weka/Labels.java bayes NAME.arff.gz:3:200 ... > bayes.csv
 *   java -cp weka.jar testdata/weka/Labels.java discretized NAME.arff.gz:3:200 ... > discretized.csv
 *   java -cp weka.jar testdata/weka/Labels.java kernel NAME.arff.gz:3:200 ... > kernel.csv
 *   java -cp weka.jar testdata/weka/Labels.java 5 NAME.arff.gz:3:200 ... > neighbours.csv
 * </pre>
 *
 * Labels are those of the XML file beside the data, NAME.xml; ":3:200" stops after three of them and
 * after 200 test rows. A label is relevant where its cell is 1, or above 0 if it is numeric. It is
 * the class, {0, 1}, the last column; the other labels are taken out. Inputs are used as they are, not
 * standardized. The first two thirds of the rows train, the rest are asked for.
 *
 * One line per label and row, "set,label,row,probability": the place of the row in the file, from 0,
 * and P(relevant) with 17 significant digits.
 *
 * IBk widens the ranges of its inputs by each row it is asked about, so that an answer depends on the
 * rows asked before. Here it keeps those of its training rows; in how many answers that matters is
 * said at the end.
 */
public class Labels {
  /** Forgets the rows it is asked about. */
  static class Forgetful extends LinearNNSearch {
    @Override
    public void addInstanceInfo(Instance row) {}
  }

  static AbstractClassifier learner(String name, boolean forgetful) throws Exception {
    if (Arrays.asList("bayes", "discretized", "kernel").contains(name)) {
      NaiveBayes bayes = new NaiveBayes();
      bayes.setUseSupervisedDiscretization(name.equals("discretized"));
      bayes.setUseKernelEstimator(name.equals("kernel"));
      return bayes;
    }
    IBk neighbours = new IBk(Integer.parseInt(name));
    neighbours.setNearestNeighbourSearchAlgorithm(forgetful ? new Forgetful() : new LinearNNSearch());
    return neighbours;
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println("set,label,row,probability");
    int answers = 0;
    int otherwise = 0;
    for (String argument : Arrays.copyOfRange(arguments, 1, arguments.length)) {
      String[] parts = argument.split(":");
      Instances data = new DataSource(parts[0]).getDataSet();
      String stem = parts[0].replaceAll("\\.arff(\\.gz)?$", "");
      Set<String> labels = labels(new File(stem + ".xml"));
      int limit = parts.length > 1 ? Integer.parseInt(parts[1]) : labels.size();
      int first = data.numInstances() * 2 / 3;
      int rows = data.numInstances() - first;
      rows = parts.length > 2 ? Math.min(rows, Integer.parseInt(parts[2])) : rows;
      for (String label : labels) {
        if (limit-- == 0) {
          break;
        }
        Instances one = withClass(data, labels, label);
        AbstractClassifier learner = learner(arguments[0], true);
        AbstractClassifier plain = learner(arguments[0], false);
        learner.buildClassifier(new Instances(one, 0, first));
        plain.buildClassifier(new Instances(one, 0, first));
        for (int row = first; row < first + rows; row++) {
          double probability = learner.distributionForInstance(one.instance(row))[1];
          answers++;
          otherwise += (plain.distributionForInstance(one.instance(row))[1] > 0.5) == (probability > 0.5) ? 0 : 1;
          String name = new File(stem).getName() + "," + quoted(label);
          System.out.printf(Locale.ROOT, "%s,%d,%.16e%n", name, row, probability);
        }
      }
    }
    System.err.printf("%d answers, %d of them otherwise by WEKA as it is%n", answers, otherwise);
  }

  /** The inputs and one label, which comes last. */
  static Instances withClass(Instances data, Set<String> labels, String label) throws Exception {
    ArrayList<Attribute> attributes = new ArrayList<>();
    List<Integer> inputs = new ArrayList<>();
    for (int at = 0; at < data.numAttributes(); at++) {
      if (!labels.contains(data.attribute(at).name())) {
        attributes.add((Attribute) data.attribute(at).copy());
        inputs.add(at);
      }
    }
    attributes.add(new Attribute("the class of " + label, Arrays.asList("0", "1")));
    Instances result = new Instances(data.relationName(), attributes, data.numInstances());
    result.setClassIndex(attributes.size() - 1);
    Attribute target = data.attribute(label);
    for (Instance row : data) {
      double[] cells = new double[attributes.size()];
      for (int at = 0; at < inputs.size(); at++) {
        cells[at] = row.value(inputs.get(at));
      }
      boolean relevant = target.isNumeric() ? row.value(target) > 0 : row.stringValue(target).equals("1");
      cells[inputs.size()] = relevant ? 1 : 0;
      result.add(row instanceof SparseInstance ? new SparseInstance(1, cells) : new DenseInstance(1, cells));
    }
    return result;
  }

  static Set<String> labels(File xml) throws Exception {
    Matcher matcher = Pattern.compile("<label\\s+name=\"([^\"]*)\"").matcher(Files.readString(xml.toPath()));
    Set<String> names = new LinkedHashSet<>();
    while (matcher.find()) {
      names.add(matcher.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&"));
    }
    return names;
  }

  static String quoted(String name) {
    return name.matches("[^,\"]*") ? name : "\"" + name.replace("\"", "\"\"") + "\"";
  }
}
