import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.*;
import java.util.regex.*;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.*;
import weka.core.*;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Writes the trees that WEKA 3.9.7's J48 grows for single labels, and what they decide; for
 * crates/labelchain/tests/trees_agree.rs and bench/trees.py.
 *
 * <pre>
 *   pip download --no-deps --no-binary :all: python-weka-wrapper3==0.3.3   # its sdist holds weka.jar
 *   java -cp weka.jar testdata/weka/Trees.java NAME.arff.gz -U NAME.arff.gz:holes ... > trees.csv
 * </pre>
 *
 * An argument that begins with "-" is the options of all sets after it, parted by spaces. Labels are
 * those of the XML file beside the data, NAME.xml; ":label=6" takes only the one at that place, from 0.
 * A label is relevant where its cell is 1, or above 0 if it is numeric. It is the class, {0, 1}, the
 * last column; the other labels are taken out. ":holes" takes out every cell where
 * (31 row + 17 column) mod 7 is 0. The first two thirds of the rows train and the rest are asked for;
 * ":all" trains on all rows and asks for them.
 *
 * One line per label, "set,options,label,leaves,size,tree,decisions". A leaf is [irrelevant relevant],
 * the weights of its rows; an inner node is (column test child child ...), where the test is "<=" and
 * the bits of the threshold, "=" for a branch per value, or "=v" for value v against the others. Trees
 * longer than 400 characters are replaced by their length and FNV-1a hash: weights are then in
 * thousandths, a little below the half rounded up, so that sums taken in another order round alike.
 * Decisions are hexadecimal digits of four rows each, the first row in the highest bit. CPU seconds of
 * the thread go to standard error.
 */
public class Trees {
  public static void main(String[] arguments) throws Exception {
    String options = "";
    System.out.println("set,options,label,leaves,size,tree,decisions");
    for (String argument : arguments) {
      if (argument.startsWith("-")) {
        options = argument;
        continue;
      }
      List<String> words = Arrays.asList(argument.split(":"));
      Instances data = new DataSource(words.get(0)).getDataSet();
      String stem = words.get(0).replaceAll("\\.arff(\\.gz)?$", "");
      Set<String> labels = labels(new File(stem + ".xml"));
      String name = new File(stem).getName() + (words.contains("holes") ? ":holes" : "");
      int at = 0;
      for (String label : labels) {
        String place = "label=" + at++;
        if (words.stream().anyMatch(word -> word.startsWith("label=") && !word.equals(place))) {
          continue;
        }
        Instances one = withClass(data, labels, label, words.contains("holes"));
        int n = words.contains("all") ? one.numInstances() : one.numInstances() * 2 / 3;
        Instances train = new Instances(one, 0, n);
        J48 j48 = new J48();
        j48.setOptions(Utils.splitOptions(options));
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        j48.buildClassifier(train);
        long after = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        System.err.printf(Locale.ROOT, "%s,%s,%.6f%n", name, label, (after - before) / 1e9);
        StringBuilder decisions = new StringBuilder();
        for (int row = n % one.numInstances(), bits = 0, digit = 0; row < one.numInstances(); row++) {
          digit = 2 * digit + (int) j48.classifyInstance(one.instance(row));
          bits++;
          if (bits == 4 || row + 1 == one.numInstances()) {
            decisions.append(Integer.toHexString(digit << (4 - bits)));
            bits = digit = 0;
          }
        }
        System.out.println(name + "," + options + "," + quoted(label) + "," + (int) j48.measureNumLeaves()
            + "," + (int) j48.measureTreeSize() + "," + tree(j48) + "," + decisions);
      }
    }
  }

  static String tree(J48 j48) throws Exception {
    Field root = J48.class.getDeclaredField("m_root");
    root.setAccessible(true);
    StringBuilder text = new StringBuilder();
    describe((ClassifierTree) root.get(j48), text);
    if (text.length() <= 400) {
      return text.toString();
    }
    long hash = 0xcbf29ce484222325L;
    for (byte b : text.toString().getBytes(StandardCharsets.US_ASCII)) {
      hash = (hash ^ b) * 0x100000001b3L;
    }
    return text.length() + "#" + String.format("%016x", hash);
  }

  static void describe(ClassifierTree node, StringBuilder text) {
    ClassifierSplitModel model = node.getLocalModel();
    if (node.isLeaf()) {
      text.append("[" + weight(model.distribution().perClass(0)) + " " + weight(model.distribution().perClass(1)) + "]");
      return;
    }
    if (model instanceof C45Split) {
      C45Split split = (C45Split) model;
      text.append("(" + split.attIndex() + " ");
      // A nominal split keeps the value it starts from.
      boolean isNominal = split.splitPoint() == Double.MAX_VALUE;
      text.append(isNominal ? "=" : "<=" + bits(split.splitPoint()));
    } else {
      BinC45Split split = (BinC45Split) model;
      text.append("(" + split.attIndex() + " ");
      boolean isNominal = node.getTrainingData().attribute(split.attIndex()).isNominal();
      text.append(isNominal ? "=" + (int) split.splitPoint() : "<=" + bits(split.splitPoint()));
    }
    for (ClassifierTree child : node.getSons()) {
      text.append(" ");
      describe(child, text);
    }
    text.append(")");
  }

  static String bits(double value) {
    return String.format("%016x", Double.doubleToLongBits(value));
  }

  static String weight(double weight) {
    return "" + (long) Math.floor(weight * 1000 + 0.51);
  }

  /** The inputs and one label, which comes last. */
  static Instances withClass(Instances data, Set<String> labels, String label, boolean holes) throws Exception {
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
    for (int at = 0; at < data.numInstances(); at++) {
      Instance row = data.instance(at);
      double[] cells = new double[attributes.size()];
      for (int column = 0; column < inputs.size(); column++) {
        boolean hole = holes && (31 * at + 17 * column) % 7 == 0;
        cells[column] = hole ? Utils.missingValue() : row.value(inputs.get(column));
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
