import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.*;
import java.util.regex.*;
import weka.attributeSelection.BestFirst;
import weka.attributeSelection.CfsSubsetEval;
import weka.core.*;
import weka.core.converters.ConverterUtils.DataSource;
import weka.filters.Filter;
import weka.filters.supervised.instance.SpreadSubsample;
import weka.filters.unsupervised.attribute.Standardize;

/**
 * Writes what WEKA 3.9.7 makes of data sets, for crates/labelchain/tests/selections_agree.rs.
 *
 * <pre>
 *   pip download --no-deps --no-binary :all: python-weka-wrapper3==0.3.3   # its sdist holds weka.jar
 *   java -cp weka.jar testdata/weka/Select.java select NAME.arff.gz ...      > selections.csv
 *   java -cp weka.jar testdata/weka/Select.java prepare testdata/weka/mixed.arff > prepared.csv
 * </pre>
 *
 * Labels are those of the XML file beside the data, NAME.xml. "NAME.arff.gz:5" stops after five of
 * them. A label is relevant where its cell is 1, or above 0 if it is numeric. The class is the last
 * column, {0, 1}; the other labels are taken out. All options are WEKA's defaults.
 *
 * select: one line per label, "set,label,features": positions among the inputs, from 0, parted by
 * spaces. CPU seconds go to standard error.
 *
 * prepare: "standardize,row,column,value" for every numeric cell that is not missing, and
 * "spread,label,maximum,irrelevant,relevant", the rows left of each class.
 */
public class Select {
  public static void main(String[] arguments) throws Exception {
    for (String argument : Arrays.copyOfRange(arguments, 1, arguments.length)) {
      String[] parts = argument.split(":");
      Instances data = new DataSource(parts[0]).getDataSet();
      String stem = parts[0].replaceAll("\\.arff(\\.gz)?$", "");
      Set<String> labels = labels(new File(stem + ".xml"));
      int limit = parts.length > 1 ? Integer.parseInt(parts[1]) : labels.size();
      if (arguments[0].equals("select")) {
        select(new File(stem).getName(), data, labels, limit);
      } else {
        prepare(data, labels);
      }
    }
  }

  static void select(String name, Instances data, Set<String> labels, int limit) throws Exception {
    for (String label : labels) {
      if (limit-- == 0) {
        break;
      }
      Instances one = withClass(data, labels, label);
      long before = cpu();
      CfsSubsetEval evaluator = new CfsSubsetEval();
      evaluator.buildEvaluator(one);
      int[] chosen = evaluator.postProcess(new BestFirst().search(evaluator, one));
      System.err.printf("%s,%s,%.3f%n", name, label, (cpu() - before) / 1e9);
      StringJoiner features = new StringJoiner(" ");
      for (int feature : chosen) {
        features.add("" + feature);
      }
      System.out.println(name + "," + quoted(label) + "," + features);
    }
  }

  static void prepare(Instances data, Set<String> labels) throws Exception {
    String first = labels.iterator().next();
    Instances inputs = withClass(data, labels, first);
    Standardize standardize = new Standardize();
    standardize.setInputFormat(inputs);
    Instances standard = Filter.useFilter(inputs, standardize);
    for (int row = 0; row < standard.numInstances(); row++) {
      for (int column = 0; column < standard.numAttributes(); column++) {
        Instance cells = standard.instance(row);
        if (standard.attribute(column).isNumeric() && !cells.isMissing(column)) {
          System.out.println("standardize," + row + "," + column + "," + cells.value(column));
        }
      }
    }
    for (String label : labels) {
      for (double maximum : new double[] {1, 1.5, 2, 20}) {
        Instances one = withClass(data, labels, label);
        SpreadSubsample spread = new SpreadSubsample();
        spread.setDistributionSpread(maximum);
        spread.setInputFormat(one);
        Instances left = Filter.useFilter(one, spread);
        int[] counts = left.attributeStats(left.classIndex()).nominalCounts;
        System.out.println("spread," + label + "," + maximum + "," + counts[0] + "," + counts[1]);
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

  static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
