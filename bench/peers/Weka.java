import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.function.*;
import weka.classifiers.Classifier;
import weka.classifiers.UpdateableClassifier;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.net.ParentSet;
import weka.classifiers.bayes.net.search.local.HillClimber;
import weka.classifiers.bayes.net.search.local.K2;
import weka.classifiers.bayes.net.search.local.LocalScoreSearchAlgorithm;
import weka.classifiers.bayes.net.search.local.Scoreable;
import weka.core.*;

/** Weka's learners with their default settings, in the protocol of protocol.go. */
public class Weka {
    static final int FOLDS = 10, BATCH = 100_000, SINGLES = 5000, REPEATS = 25;

    static final Map<String, Supplier<Classifier>> METHODS = Map.of(
            "ZeroR", weka.classifiers.rules.ZeroR::new,
            "NaiveBayes", weka.classifiers.bayes.NaiveBayesUpdateable::new,
            "J48", weka.classifiers.trees.J48::new,
            "JRip", weka.classifiers.rules.JRip::new,
            "PART", weka.classifiers.rules.PART::new,
            "LMT", weka.classifiers.trees.LMT::new,
            "MultilayerPerceptron", weka.classifiers.functions.MultilayerPerceptron::new);

    public static void main(String[] args) throws Exception {
        String work = args[0], folder = args[1], method = args[2];
        Map<String, String> keys = new HashMap<>();
        for (int i = 3; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            keys.put(pair[0], pair[1]);
        }
        switch (work) {
            case "version" -> say("version", "\"text\":\"" + Version.VERSION + "\"");
            case "speed" -> speed(METHODS.get(method), folder, Double.parseDouble(keys.get("budget")));
            case "folds" -> folds(METHODS.get(method), folder, keys.get("out"));
            case "graphs" -> graphs(folder, method, Double.parseDouble(keys.get("budget")));
            case "read" -> read(folder, Double.parseDouble(keys.get("budget")));
            default -> throw new IllegalArgumentException("unknown work " + work);
        }
        System.exit(0);
    }

    /** load reads the table that the driver wrote. */
    static Instances load(String folder) throws IOException {
        FastVector attributes = new FastVector();
        List<Boolean> numeric = new ArrayList<>();
        long width = 0;
        for (String line : Files.readAllLines(Path.of(folder, "columns.txt"))) {
            String name = "a" + (attributes.size() + 1);
            String[] words = line.split(" ");
            boolean number = words[0].equals("numeric");
            numeric.add(number);
            width += number ? 8 : 4;
            if (number) {
                attributes.addElement(new Attribute(name));
                continue;
            }
            FastVector values = new FastVector();
            for (int v = 0; v < Integer.parseInt(words[1]); v++) {
                values.addElement("v" + v);
            }
            attributes.addElement(new Attribute(name, values));
        }
        Path path = Path.of(folder, "cells.bin");
        int rows = (int) (Files.size(path) / width), columns = numeric.size();
        double[][] cells = new double[rows][columns];
        try (FileChannel channel = FileChannel.open(path)) {
            long at = 0;
            for (int c = 0; c < columns; c++) {
                long bytes = (numeric.get(c) ? 8L : 4L) * rows;
                ByteBuffer buffer = channel.map(FileChannel.MapMode.READ_ONLY, at, bytes).order(ByteOrder.LITTLE_ENDIAN);
                at += bytes;
                for (int r = 0; r < rows; r++) {
                    if (numeric.get(c)) {
                        cells[r][c] = buffer.getDouble();
                    } else {
                        int v = buffer.getInt();
                        cells[r][c] = v < 0 ? Instance.missingValue() : v;
                    }
                }
            }
        }
        Instances data = new Instances("data", attributes, rows);
        for (double[] row : cells) {
            data.add(new Instance(1, row));
        }
        data.setClassIndex(columns - 1);
        return data;
    }

    interface Work {
        void run() throws Exception;
    }

    static double[] repeat(double budget, int times, Work work) throws Exception {
        List<Double> seconds = new ArrayList<>();
        double total = 0;
        while (seconds.isEmpty() || total < budget && seconds.size() < times) {
            long start = System.nanoTime();
            work.run();
            double s = (System.nanoTime() - start) / 1e9;
            seconds.add(s);
            total += s;
        }
        return seconds.stream().mapToDouble(Double::doubleValue).toArray();
    }

    static void say(String part, String... fields) {
        StringBuilder line = new StringBuilder("{\"part\":\"" + part + "\"");
        for (String f : fields) {
            line.append(",").append(f);
        }
        System.out.println(line.append("}"));
        System.out.flush();
    }

    static String seconds(double[] s) {
        return "\"seconds\":" + Arrays.toString(s);
    }

    static void sayMemory() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (Files.exists(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("VmHWM:")) {
                    say("memory", "\"bytes\":" + 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")));
                }
            }
        }
    }

    static void speed(Supplier<Classifier> make, String folder, double budget) throws Exception {
        Instances data = load(folder);
        say("loaded");
        Classifier[] model = new Classifier[1];
        say("fit", seconds(repeat(budget, REPEATS, () -> {
            model[0] = make.get();
            model[0].buildClassifier(data);
        })));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(model[0]);
        }
        say("size", "\"bytes\":" + bytes.size());
        int n = Math.min(BATCH, data.numInstances());
        say("predict", seconds(repeat(budget, REPEATS, () -> {
            for (int r = 0; r < n; r++) {
                model[0].distributionForInstance(data.instance(r));
            }
        })), "\"rows\":" + n);
        int[] row = {0};
        say("single", seconds(repeat(budget, SINGLES, () -> model[0].distributionForInstance(data.instance(row[0]++ % n)))), "\"rows\":1");
        if (model[0] instanceof UpdateableClassifier u) {
            say("update", seconds(repeat(budget, REPEATS, () -> u.updateClassifier(data.instance(0)))), "\"rows\":1");
        }
        sayMemory();
    }

    static void folds(Supplier<Classifier> make, String folder, String out) throws Exception {
        Instances data = load(folder);
        int rows = data.numInstances(), classes = data.numClasses();
        IntBuffer fold = ByteBuffer.wrap(Files.readAllBytes(Path.of(folder, "folds.i32"))).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
        ByteBuffer p = ByteBuffer.allocate(8 * rows * classes).order(ByteOrder.LITTLE_ENDIAN);
        double rules = 0, tests = 0;
        for (int k = 0; k < FOLDS; k++) {
            Instances train = new Instances(data, rows);
            for (int r = 0; r < rows; r++) {
                if (fold.get(r) != k) {
                    train.add(data.instance(r));
                }
            }
            Classifier model = make.get();
            model.buildClassifier(train);
            for (int r = 0; r < rows; r++) {
                if (fold.get(r) == k) {
                    double[] d = model.distributionForInstance(data.instance(r));
                    for (int c = 0; c < classes; c++) {
                        p.putDouble(8 * (r * classes + c), d[c]);
                    }
                }
            }
            double[] size = reading(model);
            rules += size[0] / FOLDS;
            tests += size[1] / FOLDS;
        }
        Files.write(Path.of(out), p.array());
        say("folds", "\"rules\":" + rules, "\"tests\":" + tests);
    }

    /** reading counts rules and tests in what Weka prints; zeros for models that are no rules. */
    static double[] reading(Classifier model) {
        double rules = 0, tests = 0;
        String text = model.toString();
        if (model instanceof weka.classifiers.trees.J48) {
            // A line for each branch, "|" for each test above it; a leaf has ": class".
            if (((weka.classifiers.trees.J48) model).measureNumLeaves() == 1) {
                return new double[] {1, 0};
            }
            for (String line : text.split("\n")) {
                if (line.matches(".*: v\\d+ \\(.*\\)")) {
                    rules++;
                    tests += 1 + line.chars().filter(c -> c == '|').count();
                }
            }
        } else if (model instanceof weka.classifiers.rules.JRip) {
            for (String line : text.split("\n")) {
                if (line.contains(" => ")) {
                    rules++;
                    tests += line.split("=>")[0].chars().filter(c -> c == '(').count();
                }
            }
        } else if (model instanceof weka.classifiers.rules.PART) {
            // "a = v AND" lines; the last of a rule has ": class".
            for (String line : text.split("\n")) {
                boolean last = line.matches(".*: v\\d+ \\(.*\\)");
                if (last) {
                    rules++;
                }
                if (line.endsWith(" AND") || last && !line.startsWith(":")) {
                    tests++;
                }
            }
        }
        return new double[] {rules, tests};
    }

    /** graphs learns a belief network's graph by BDeu, with at most four parents, and says each column's. */
    static void graphs(String folder, String method, double budget) throws Exception {
        Instances data = load(folder);
        data.setClassIndex(0); // K2 puts it first, and then the columns as they stand
        SelectedTag score = new SelectedTag(Scoreable.BDeu, LocalScoreSearchAlgorithm.TAGS_SCORE_TYPE);
        BayesNet[] net = new BayesNet[1];
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long busy = process.getProcessCpuTime();
        double[] took = repeat(budget, REPEATS, () -> {
            net[0] = new BayesNet();
            if (method.equals("BayesNet K2")) {
                K2 search = new K2();
                search.setInitAsNaiveBayes(false);
                search.setMaxNrOfParents(4);
                search.setScoreType(score);
                net[0].setSearchAlgorithm(search);
            } else {
                HillClimber search = new HillClimber();
                search.setInitAsNaiveBayes(false);
                search.setMaxNrOfParents(4);
                search.setScoreType(score);
                search.setUseArcReversal(true);
                net[0].setSearchAlgorithm(search);
            }
            net[0].buildClassifier(data);
        });
        double cpu = (process.getProcessCpuTime() - busy) / 1e9 / took.length;
        int[][] parents = new int[data.numAttributes()][];
        for (int c = 0; c < parents.length; c++) {
            ParentSet set = net[0].getParentSet(c);
            parents[c] = new int[set.getNrOfParents()];
            for (int i = 0; i < parents[c].length; i++) {
                parents[c][i] = set.getParent(i);
            }
        }
        say("fit", seconds(took), "\"cpu\":" + cpu, "\"text\":\"" + Arrays.deepToString(parents) + "\"");
        sayMemory();
    }

    static void read(String path, double budget) throws Exception {
        int[] rows = {0};
        say("read", seconds(repeat(budget, REPEATS, () -> {
            if (path.endsWith(".arff")) {
                try (Reader in = new BufferedReader(new FileReader(path))) {
                    rows[0] = new Instances(in).numInstances();
                }
                return;
            }
            weka.core.converters.CSVLoader loader = new weka.core.converters.CSVLoader();
            loader.setSource(new File(path));
            rows[0] = loader.getDataSet().numInstances();
        })), "\"rows\":" + rows[0]);
        sayMemory();
    }
}
