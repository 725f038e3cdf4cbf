package datasets

// Terms and ways by which copies came, as stated where they were found.
const (
	uci       = "UCI Machine Learning Repository"
	viaMlb    = ", copy from the R package mlbench"
	viaWeka   = ", copy from the examples of Weka"
	viaARFF   = ", copy from github.com/renatopp/arff-datasets"
	viaBrown  = ", copy from github.com/jbrownlee/Datasets"
	viaSklear = ", copy bundled with scikit-learn"

	termsMlb    = "UCI data; the package mlbench is GPL-2"
	termsWeka   = "UCI data; Weka is GPL-2 or later"
	termsUCI    = "UCI data; none stated with the copy"
	termsSklear = "UCI data; scikit-learn is BSD-3-Clause"
	termsMade   = "made by rule; no terms"
	termsBook   = "facts of a published example"
)

func monks(n, test string, rows int, aliases, companion string) Set {
	title := "MONK's problem " + n + ", robots described by six attributes: "
	title += map[string]string{
		"1": "a1 = a2 or a5 = 1",
		"2": "exactly two attributes have their first value",
		"3": "(a5 = 3 and a4 = 1) or (a5 != 4 and a2 != 3), with 5 % noise in the training rows",
	}[n]
	if test != "" {
		title += " (all 432 robots)"
	}
	return Set{
		Name: "monks" + n + test, Title: title, Target: "class", Rows: rows, Columns: 7, Test: companion, Aliases: []string{aliases},
		Source:  uci + ", MONK's Problems (Thrun et al. 1991), copy from github.com/azon04/ID3_ML",
		Terms:   termsUCI,
		Nominal: []string{"a1", "a2", "a3", "a4", "a5", "a6", "class"},
		Values: map[string][]string{
			"a1": {"1", "2", "3"}, "a2": {"1", "2", "3"}, "a3": {"1", "2"}, "a4": {"1", "2", "3"},
			"a5": {"1", "2", "3", "4"}, "a6": {"1", "2"}, "class": {"0", "1"},
		},
	}
}

// collected are the sets with embedded rows, sorted by name.
var collected = []Set{
	{Name: "audiology", Title: "Patients' hearing, tests and history, 24 diagnoses", Target: "class", Rows: 226, Columns: 70,
		Source: uci + ", Audiology (Standardized) (Jergen, Quinlan)" + viaARFF, Terms: termsUCI},
	{Name: "auto-mpg", Title: "Cars of 1970 to 1982, fuel consumption in miles per gallon", Target: "mpg", Rows: 398, Columns: 8,
		Source: uci + ", Auto MPG (Quinlan 1993)" + viaARFF, Terms: termsUCI, Aliases: []string{"auto_mpg"}},
	{Name: "balance-scale", Title: "A balance tips left, right or not (Siegler's psychological experiments)", Target: "class", Rows: 625, Columns: 5,
		Source: uci + ", Balance Scale (Siegler, Hume)" + viaARFF, Terms: termsUCI, Aliases: []string{"balance_scale"}},
	{Name: "boston", Title: "Housing in the Boston area, 1970 census tracts, median value of homes in 1000 dollars", Target: "medv", Rows: 506, Columns: 14,
		Source: uci + ", Housing (Harrison & Rubinfeld 1978)" + viaMlb, Terms: termsMlb, Aliases: []string{"boston_housing"}},
	{Name: "breast-cancer", Title: "Breast tumours seen in fine needle aspirates, benign or malignant (Wisconsin, original)", Target: "Class", Rows: 699, Columns: 10,
		Source: uci + ", Breast Cancer Wisconsin (Original) (Wolberg), without its Id" + viaMlb, Terms: termsMlb, Aliases: []string{"breast_cancer_wisconsin_original"}},
	{Name: "breast-cancer-ljubljana", Title: "Breast cancer patients, recurrence within five years (Ljubljana)", Target: "Class", Rows: 286, Columns: 10,
		Source: uci + ", Breast Cancer (Zwitter & Soklic 1988)" + viaARFF, Terms: termsUCI, Aliases: []string{"breast_cancer_ljubljana"}},
	{Name: "car", Title: "Car evaluation by price and technical characteristics, every combination once", Target: "class", Rows: 1728, Columns: 7,
		Source: uci + ", Car Evaluation (Bohanec & Zupan)" + viaARFF, Terms: termsUCI, Aliases: []string{"car_evaluation"},
		Nominal: []string{"doors", "persons"}},
	{Name: "contact-lenses", Title: "Which contact lenses fit a patient", Target: "contact-lenses", Rows: 24, Columns: 5,
		Source: uci + ", Lenses (Cendrowska 1987)" + viaWeka, Terms: termsWeka, Aliases: []string{"contact_lenses"}},
	{Name: "credit-a", Title: "Australian credit card applications, accepted or not, attributes without names", Target: "class", Rows: 690, Columns: 16,
		Source: uci + ", Credit Approval (Quinlan 1987)" + viaARFF, Terms: termsUCI, Aliases: []string{"credit_a"}},
	{Name: "cup", Title: "Ten objects, four of them cups, and a theory that is right about six", Target: "cup", Rows: 10, Columns: 13,
		Source: "Winston et al. 1983; Mitchell 1997, Machine Learning, table 12.3, its marks put together again from what the text says of them", Terms: termsBook,
		Nominal: []string{"cup"}},
	{Name: "digits", Title: "Handwritten digits, 8 by 8 counts of dark pixels", Target: "target", Rows: 1797, Columns: 65,
		Source: uci + ", Optical Recognition of Handwritten Digits, test part (Alpaydin & Kaynak)" + viaSklear, Terms: termsSklear, Aliases: []string{"digits8x8"},
		Nominal: []string{"target"}},
	{Name: "ecoli", Title: "Where in the cell of E. coli a protein is found", Target: "class", Rows: 336, Columns: 8,
		Source: uci + ", Ecoli (Nakai & Horton 1996)" + viaARFF, Terms: termsUCI},
	{Name: "enjoy-sport", Title: "Four days on which somebody did or did not enjoy a sport", Target: "enjoysport", Rows: 4, Columns: 7,
		Source: "Mitchell 1997, Machine Learning, tables 2.1 and 2.2", Terms: termsBook, Aliases: []string{"mitchell_enjoysport", "enjoysport"},
		Values: map[string][]string{
			"sky": {"Sunny", "Cloudy", "Rainy"}, "airtemp": {"Warm", "Cold"}, "humidity": {"Normal", "High"},
			"wind": {"Strong", "Weak"}, "water": {"Warm", "Cool"}, "forecast": {"Same", "Change"}, "enjoysport": {"Yes", "No"},
		}},
	{Name: "glass", Title: "Glass found at a crime scene: refraction and oxides, what it was part of", Target: "Type", Rows: 214, Columns: 10,
		Source: uci + ", Glass Identification (German 1987)" + viaMlb, Terms: termsMlb,
		Nominal: []string{"Type"}},
	{Name: "go-comments", Title: "Comments on what 20 packages of Go's library declare, their first 52 words, and which package each is of", Target: "package", Rows: 1600, Columns: 2,
		Source: "the source files of Go 1.26 (The Go Authors), 80 comments of 12 words or more of each package, evenly spaced", Terms: "BSD-3-Clause",
		Text: []string{"comment"}},
	{Name: "haberman", Title: "Survival of breast cancer patients five years after surgery", Target: "Survival_status", Rows: 306, Columns: 4,
		Source: uci + ", Haberman's Survival (Haberman 1976)" + viaARFF, Terms: termsUCI,
		Nominal: []string{"Survival_status"}},
	{Name: "hayes-roth", Title: "People in two clubs or neither, a concept learning experiment", Target: "class", Rows: 132, Columns: 5,
		Source: uci + ", Hayes-Roth (Hayes-Roth & Hayes-Roth 1977), copy from github.com/arjunsalyan/MLP-Hayes-Roth", Terms: termsUCI, Aliases: []string{"hayes_roth"},
		Nominal: []string{"hobby", "age", "educational_level", "marital_status", "class"}},
	{Name: "heart-c", Title: "Heart disease, Cleveland clinic: narrowing of an artery above or below 50 %", Target: "num", Rows: 303, Columns: 14,
		Source: uci + ", Heart Disease (Detrano)" + viaARFF, Terms: termsUCI, Aliases: []string{"heart_c"}},
	{Name: "heart-statlog", Title: "Heart disease, present or absent, as in the Statlog project", Target: "class", Rows: 270, Columns: 14,
		Source: uci + ", Statlog (Heart)" + viaARFF, Terms: termsUCI, Aliases: []string{"heart_statlog"}},
	{Name: "ionosphere", Title: "Radar returns from the ionosphere, good or bad", Target: "Class", Rows: 351, Columns: 35,
		Source: uci + ", Ionosphere (Sigillito et al. 1989)" + viaMlb, Terms: termsMlb},
	{Name: "iris", Title: "Flowers of three species of iris, sizes of sepals and petals", Target: "target", Rows: 150, Columns: 5,
		Source: uci + ", Iris (Fisher 1936)" + viaSklear, Terms: termsSklear},
	{Name: "krk", Title: "White king, white rook, black king, white to move: is the position illegal", Target: "illegal", Rows: 10000, Columns: 7,
		Source: "made by the rules of chess, after Muggleton et al. 1989", Terms: termsMade, Aliases: []string{"krk_illegal_train"}, Test: "krk-test",
		Nominal: []string{"illegal"}},
	{Name: "krk-test", Title: "White king, white rook, black king, white to move: is the position illegal (test rows)", Target: "illegal", Rows: 10000, Columns: 7,
		Source: "made by the rules of chess, after Muggleton et al. 1989", Terms: termsMade, Aliases: []string{"krk_illegal_test"},
		Nominal: []string{"illegal"}},
	{Name: "labor", Title: "Labour agreements in Canada, good or bad, many cells missing", Target: "class", Rows: 57, Columns: 17,
		Source: uci + ", Labor Relations (Matwin 1988)" + viaWeka, Terms: termsWeka},
	{Name: "machine-cpu", Title: "Computers of the early 1980s, published relative performance", Target: "prp", Rows: 209, Columns: 7,
		Source: uci + ", Computer Hardware (Ein-Dor & Feldmesser 1987)" + viaARFF, Terms: termsUCI, Aliases: []string{"machine_cpu"}},
	monks("1", "", 124, "monks1_train", "monks1-test"),
	monks("1", "-test", 432, "monks1_test", ""),
	monks("2", "", 169, "monks2_train", "monks2-test"),
	monks("2", "-test", 432, "monks2_test", ""),
	monks("3", "", 122, "monks3_train", "monks3-test"),
	monks("3", "-test", 432, "monks3_test", ""),
	{Name: "multiplexer11", Title: "Three address bits select one of eight data bits, every pattern once", Target: "y", Rows: 2048, Columns: 12,
		Source: "made by rule, after Wilson 1987", Terms: termsMade,
		Nominal: []string{"a0", "a1", "a2", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "y"}},
	{Name: "multiplexer6", Title: "Two address bits select one of four data bits, every pattern once", Target: "y", Rows: 64, Columns: 7,
		Source: "made by rule, after Wilson 1987", Terms: termsMade,
		Nominal: []string{"a0", "a1", "d0", "d1", "d2", "d3", "y"}},
	{Name: "mushroom", Title: "Mushrooms of the families Agaricus and Lepiota, edible or poisonous", Target: "class", Rows: 8124, Columns: 23,
		Source: uci + ", Mushroom (Schlimmer 1987)" + viaARFF, Terms: termsUCI},
	{Name: "penguins", Title: "Penguins of three species near Palmer Station, Antarctica", Target: "species", Rows: 344, Columns: 7,
		Source: "Horst, Hill & Gorman 2020, palmerpenguins, copy from the R package modeldata", Terms: "the package modeldata is MIT"},
	{Name: "pima", Title: "Diabetes among Pima women, zeros standing for cells that were not measured", Target: "diabetes", Rows: 768, Columns: 9,
		Source: uci + ", Pima Indians Diabetes (Smith et al. 1988)" + viaMlb, Terms: termsMlb, Aliases: []string{"pima_diabetes"}},
	{Name: "pima-missing", Title: "Diabetes among Pima women, impossible zeros left empty", Target: "diabetes", Rows: 768, Columns: 9,
		Source: uci + ", Pima Indians Diabetes (Smith et al. 1988)" + viaMlb, Terms: termsMlb, Aliases: []string{"pima_diabetes_na"}},
	{Name: "play-tennis", Title: "Fourteen days on which somebody did or did not play tennis", Target: "playtennis", Rows: 14, Columns: 5,
		Source: "Quinlan 1986; Mitchell 1997, Machine Learning, table 3.2, without the day's name", Terms: termsBook, Aliases: []string{"mitchell_playtennis", "playtennis"}},
	{Name: "postoperative", Title: "Where patients go from the recovery room", Target: "decision", Rows: 90, Columns: 9,
		Source: uci + ", Post-Operative Patient (Summers & Woolery)" + viaARFF, Terms: termsUCI},
	{Name: "promoters", Title: "DNA of E. coli, 57 nucleotides: does a promoter start here", Target: "class", Rows: 106, Columns: 58,
		Source: uci + ", Molecular Biology (Promoter Gene Sequences) (Harley, Reynolds, Towell), copy from github.com/farhan-137/dna-promoter-classifier", Terms: termsUCI,
		Ignore: []string{"name"}},
	{Name: "seeds", Title: "Kernels of three varieties of wheat, measured by X-ray", Target: "class", Rows: 210, Columns: 8,
		Source: uci + ", Seeds (Charytanowicz et al. 2012)" + viaBrown, Terms: termsUCI, Aliases: []string{"wheat_seeds"},
		Nominal: []string{"class"}},
	{Name: "servo", Title: "Rise time of a servo mechanism, as a rank among the 51 times that occur", Target: "Class", Rows: 167, Columns: 5,
		Source: uci + ", Servo (Ulrich 1986)" + viaMlb, Terms: termsMlb},
	{Name: "shuttle-landing", Title: "Land the space shuttle by hand (1) or automatically (2); an empty cell means any value", Target: "Class", Rows: 15, Columns: 7,
		Source: uci + ", Shuttle Landing Control (Michie 1988)" + viaARFF, Terms: termsUCI, Aliases: []string{"shuttle_landing_control"},
		Nominal: []string{"Class", "STABILITY", "ERROR", "SIGN", "WIND", "MAGNITUDE", "VISIBILITY"}},
	{Name: "sonar", Title: "Sonar echoes of mines and rocks, energy in 60 bands", Target: "Class", Rows: 208, Columns: 61,
		Source: uci + ", Connectionist Bench (Sonar) (Gorman & Sejnowski 1988)" + viaMlb, Terms: termsMlb},
	{Name: "soybean", Title: "Diseases of soybeans, 19 of them, many cells missing", Target: "class", Rows: 683, Columns: 36,
		Source: uci + ", Soybean (Large) (Michalski & Chilausky 1980)" + viaWeka, Terms: termsWeka},
	{Name: "splice", Title: "DNA of primates, 60 nucleotides: is there a splice junction, and of which kind", Target: "Class", Rows: 3190, Columns: 61,
		Source: uci + ", Molecular Biology (Splice-junction Gene Sequences) (Noordewier et al. 1991), without its names" + viaARFF, Terms: termsUCI},
	{Name: "tic-tac-toe", Title: "Final boards of tic-tac-toe: has x won", Target: "Class", Rows: 958, Columns: 10,
		Source: uci + ", Tic-Tac-Toe Endgame (Aha 1991)" + viaARFF, Terms: termsUCI, Aliases: []string{"tic_tac_toe"}},
	{Name: "two-spirals", Title: "Two spirals around each other, three turns", Target: "class", Rows: 194, Columns: 3,
		Source: "made by rule, after Lang & Witbrock 1988", Terms: termsMade, Aliases: []string{"two_spirals"},
		Nominal: []string{"class"}},
	{Name: "vehicle", Title: "Silhouettes of four vehicles, features of their shape", Target: "Class", Rows: 846, Columns: 19,
		Source: uci + ", Statlog (Vehicle Silhouettes) (Siebert 1987)" + viaMlb, Terms: termsMlb},
	{Name: "votes", Title: "Members of the US House of 1984, sixteen votes and their party", Target: "class", Rows: 435, Columns: 17,
		Source: uci + ", Congressional Voting Records (Schlimmer 1987)" + viaMlb, Terms: termsMlb, Aliases: []string{"house_votes84", "house-votes-84"}},
	{Name: "vowel", Title: "Eleven vowels of British English, speaker and spectrum", Target: "Class", Rows: 990, Columns: 11,
		Source: uci + ", Connectionist Bench (Vowel Recognition) (Deterding, Robinson)" + viaMlb, Terms: termsMlb},
	{Name: "wdbc", Title: "Breast tumours, features of cell nuclei, benign or malignant (Wisconsin, diagnostic)", Target: "target", Rows: 569, Columns: 31,
		Source: uci + ", Breast Cancer Wisconsin (Diagnostic) (Wolberg, Street & Mangasarian 1995)" + viaSklear, Terms: termsSklear, Aliases: []string{"breast_cancer_wdbc"}},
	{Name: "weather", Title: "Fourteen days, play or not, temperature and humidity as numbers", Target: "play", Rows: 14, Columns: 5,
		Source: "Quinlan 1993" + viaWeka, Terms: "Weka is GPL-2 or later", Aliases: []string{"weather_numeric"}},
	{Name: "wine", Title: "Wines of three growers of one region, chemical analysis", Target: "target", Rows: 178, Columns: 14,
		Source: uci + ", Wine (Forina et al. 1988)" + viaSklear, Terms: termsSklear},
	{Name: "zoo", Title: "Animals and their kind", Target: "type", Rows: 101, Columns: 17,
		Source: uci + ", Zoo (Forsyth 1990)" + viaMlb, Terms: termsMlb},
}
