import java.io.File;
import java.nio.file.Files;
import java.util.*;
import java.util.regex.*;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.*;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Writes what WEKA 3.9.7's NaiveBayes, with its default options or with supervised discretization
 * (-D), estimates for single labels; for crates/labelchain/tests/bayes_agrees.rs.
 *
 * <pre>
 *   pip download --no-deps --no-binary :all: python-weka-wrapper3==0.3.3   # its sdist holds weka.jar
 *   java -cp weka.jar testdata/weka/Bayes.java NAME.arff.gz:3:200 ... > bayes.csv
 *   java -cp weka.jar testdata/weka/Bayes.java -D NAME.arff.gz:3:200 ... > discretized.csv
 * </pre>
 *
 * Labels are those of the XML file beside the data, NAME.xml; ":3:200" stops after three of them and
 * after 200 test rows. A label is relevant where its cell is 1, or above 0 if it is numeric. It is
 * the class, {0, 1}, the last column; the other labels are taken out. Inputs are used as they are, not
 * standardized. The first two thirds of the rows train, the rest are asked for.
 *
 * One line per label and row, "set,label,row,probability": the place of the row in the file, from 0,
 * and P(relevant) with 17 significant digits.
 */
public class Bayes {
  public static void main(String[] arguments) throws Exception {
    System.out.println("set,label,row,probability");
    boolean discretize = arguments[0].equals("-D");
    for (String argument : Arrays.copyOfRange(arguments, discretize ? 1 : 0, arguments.length)) {
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
        NaiveBayes bayes = new NaiveBayes();
        bayes.setUseSupervisedDiscretization(discretize);
        bayes.buildClassifier(new Instances(one, 0, first));
        for (int row = first; row < first + rows; row++) {
          double probability = bayes.distributionForInstance(one.instance(row))[1];
          String name = new File(stem).getName() + "," + quoted(label);
          System.out.printf(Locale.ROOT, "%s,%d,%.16e%n", name, row, probability);
        }
      }
    }
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
