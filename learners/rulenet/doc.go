// Package rulenet learns rule networks: IF–THEN rules for a class, found one
// example at a time by the information they carry, that together form a
// network which estimates posterior probabilities.
//
// # The rules
//
// A rule says "if y then x": y is a conjunction of tests, x a class. What it
// tells of the class is its J-measure (Smyth & Goodman 1992),
//
//	J(X; y) = p(y) · ( p(x|y) log p(x|y)/p(x) + p(¬x|y) log p(¬x|y)/p(¬x) )
//
// in bits. The search (Higgins & Goodman, Incremental Learning with
// Rule-Based Neural Networks) takes each example as a template: the rule of
// all its values, concluding its class. It measures the rule and its
// children, each with one test removed; goes on with the greatest J, of equal
// ones with the more general; and stops when that is the parent. A test on a
// number begins as the example's own interval between two cuts, and children
// also widen it, so that rules come to say "age > 30".
//
// Rules of high order cover little but their own example, so early steps are
// ties, and on wide tables the choice among them decides everything. By
// default the test that says least of the class by itself is dropped, which
// depends on nothing but the rows: on DNA (180 columns) it gives the same
// accuracy as chance within a point with a twentieth of the rules.
//
// # The network
//
// Inputs are columns, the middle layer has a unit for each conjunction, and
// the outputs are the classes, whose biases are ln p(x). A unit that fires
// adds its weights; the softmax of the sums is the posterior. Weights are
//
//	published    ln p(x|y)/p(x) for the rule's class, once for each template
//	all          that for every class, p(x|y) smoothed by one case
//	calibrated   fitted by logistic regression, penalised so that rules that
//	             do not pay get none
//
// The first two count overlapping evidence more than once: their decisions
// are good, their probabilities are not. Calibrated weights mend that.
//
// # Growth
//
// A calibrated network then grows where it is wrong: rounds of examples drawn
// by how far the network is off, climbs by J on rows weighed by the same,
// another fit. Five parts of the rows, held out in turn (one if there are
// many rows), say when to stop. Each rule keeps a certificate of what it takes
// off the loss (Certificates).
//
// # Defaults
//
// The defaults are a teacher where there are rows or columns enough (Taught
// networks), else climbs with calibrated weights and growth beside one (Few rows).
// Of climbs alone (teacher=none), means of ten-fold
// cross-validation over 17 public sets of 106 to 958 rows, and the test file
// of the census incomes (adult, 32,561 rows to learn from):
//
//	                        accuracy  log loss  ECE   rules   adult
//	calibrated and grown      88.0      0.30   0.044    31    87.1, 0.286
//	calibrated                87.6      0.32   0.056    26    85.7, 0.310
//	all                       86.3      3.01   0.134   157    74.0, 8.96
//	published                 85.9      2.31   0.131    59    72.1, 9.60
//
// Numbers are cut both by classes and by frequency: supervised cuts alone lose
// 24 points on balance-scale, where no column says anything by itself, 2 on
// pima and on credit-a; equal frequencies alone lose 1.5 points on adult. A
// penalty of 0.1·√rows is in the middle of a flat valley: half of it adds
// rules and loses 2 points on the votes without physician-fee-freeze, twice of
// it loses 1 point on credit-a. Ties by chance give the same accuracy within
// half a point and, on wide tables, many times the rules.
//
// # Learning more
//
// While rows are few, of numbers, and with update=exact always, a model keeps its
// distinct rows, counted, source by source, and a later model is learnt again from all of them. Cuts,
// templates, parts held out and samples are chosen by hashes of rows, so that
// the network is a function of the multiset of rows: updates, merging and
// forgetting give what learning everything at once gives, to the digit.
//
// With update=published a model keeps coded rows, their numbers and the rules
// of its examples. New examples climb; for every older rule the search runs
// again, and tests that were removed may come back. Nothing is learnt anew, so
// this is not equal to batch learning (contract none): on the Boolean function
// of the paper it ends with about nine rules more and the same accuracy. When
// numbers have left the cuts they are cut again, every example is searched from
// again, and the model says so (Remarks). Sources are not kept apart.
//
// From 500 rows of classes on (with update=living from the first on) rows are learnt
// as they come, at a cost of the new rows: see living.go.
//
// # Taught networks
//
// From 500 rows on or above 100 columns, with teacher=trees, and always where
// the target is a number, rules are not climbed to. Boosted trees that all
// classes share (internal/boost), stopped on rows held out, are a teacher: their nodes are the candidates and their
// probabilities the labels. A student is picked from the nodes by the gain in
// loss over the root of the tests to read, in batches of 7 %, and fitted by
// Newton's steps; the tenth that takes least off the loss leaves, and so on. Its
// size is the smallest within 1 % of the least loss on rows held out, and a
// common factor stretches the weights. Larger trees are tried, and kept where
// both they and their students win. From 10,000 rows on one teacher serves both
// rehearsal and network. Means of two divisions (2/3 to learn from) of 42 public
// sets, beside XGBoost (200 trees of depth 6 at rate 0.1):
//
//	                accuracy  log loss  ECE    rules, median
//	taught            86.8      .362   .053      55
//	XGBoost           86.2      .410   .072
//
// A tree has no first step to take where no column says anything by itself. Where
// every column has few values climbs are rehearsed too, and taken where rows held out
// are clearly for them (taught_climbed.go): of hands of poker, 16,673 of which were
// learnt, 93.5 % of the others are right instead of 76.0, for six times the work.
//
// taught_bins.go cuts columns, taught.go rehearses, taught_student.go picks and fits
// classes, numbers_student.go numbers.
//
// # Few rows
//
// Of few rows, which rules are found is partly chance. Below 500 rows of classes what
// climbs end in and two taught networks are united: the mean of their log-odds is a
// network of rules again, and rules that the others can stand in for are dropped
// (united.go). Below 2,000 rows of numbers three taught networks are, with as many
// rules as one of them has (numbers_united.go).
//
// # Where things are
//
// The forms share how cells are coded and rules are written, weighed bases and
// one saved format, so they are one package; the first word of a file's name says
// whose it is:
//
//	published_*    the published network: climbs by J, its weights, its update
//	calibrated_*   weights by regression, and growth where the network is wrong
//	taught_*       boosted trees teach a small student
//	numbers_*      students whose rules add up to a number
//	united.go      networks of few rows made one
//	living_*       rows are learnt as they come
//	the others     what all have: settings, coding (examples.go), the model, its
//	               rules, reasons, picture, budget (excerpt.go), saved form
//
// The paper's steps:
//
//	examples as templates          initialRule, templates    published_search.go, published_training.go
//	the J-measure, steps 1 to 4    j, climb, step, better    published_search.go
//	counting a rule's children     count                     published_search.go, published_counter.go
//	removing duplicate rules       climbAll, foundRules      published_search.go, published_incremental.go
//	learning incrementally         searchAgain               published_search.go, published_incremental_update.go
//	the network and its weights    publishedWeights          published_network.go
//	posterior probabilities        Predict                   model.go
//
// Numbers that leave the cuts of a published network are noticed in
// published_drift.go.
//
// # Neighbours
//
// Tables are coded by encode, rules are written and matched by rule, the
// contract is learn's, kept rows too; what it shares with other learners of
// rules is that printed rules are the model. tree asks one question after the
// other where a network adds up rules that overlap; bayes adds up evidence of
// one column each.
//
// # Cost
//
// Counting is everything. Equal rows are put together; each value has a
// bitmap, rows sorted by class, and one pass over the bitmaps of a rule's
// tests counts the rule and all its children: a row that fails no test counts
// for all of them, a row that fails one test for the child without it. Climbs
// that meet go on as one. Above 4,000 distinct rows a sample of 2,000
// examples is climbed from, above 25,000 growth works on a sample, above
// 100,000 weights are fitted on a sample; counts are always of all rows.
// Climbing from all 32,561 rows of adult gives 86.99 % instead of 86.91 %
// (mean of five seeds).
package rulenet
