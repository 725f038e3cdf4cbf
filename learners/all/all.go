// Package all brings in every learner. Importing it registers them; a new
// learner adds its line here.
//
// cmd, life's tests and the root package accrete import it; a program that wants
// less imports the learners that it needs.
package all

import (
	_ "github.com/accrete-ml/accrete/learn/expert" // decodes models that were told rules
	_ "github.com/accrete-ml/accrete/learners/bayes"
	_ "github.com/accrete-ml/accrete/learners/belief"
	_ "github.com/accrete-ml/accrete/learners/cases"
	_ "github.com/accrete-ml/accrete/learners/concept"
	_ "github.com/accrete-ml/accrete/learners/cover"
	_ "github.com/accrete-ml/accrete/learners/ensemble"
	_ "github.com/accrete-ml/accrete/learners/evolve"
	_ "github.com/accrete-ml/accrete/learners/experts"
	_ "github.com/accrete-ml/accrete/learners/gaussian"
	_ "github.com/accrete-ml/accrete/learners/lazy"
	_ "github.com/accrete-ml/accrete/learners/linear"
	_ "github.com/accrete-ml/accrete/learners/markov"
	_ "github.com/accrete-ml/accrete/learners/mixture"
	_ "github.com/accrete-ml/accrete/learners/nearest"
	_ "github.com/accrete-ml/accrete/learners/neural"
	_ "github.com/accrete-ml/accrete/learners/neuraltree"
	_ "github.com/accrete-ml/accrete/learners/policy"
	_ "github.com/accrete-ml/accrete/learners/portable"
	_ "github.com/accrete-ml/accrete/learners/prior"
	_ "github.com/accrete-ml/accrete/learners/relation"
	_ "github.com/accrete-ml/accrete/learners/rocchio"
	_ "github.com/accrete-ml/accrete/learners/rulebase"
	_ "github.com/accrete-ml/accrete/learners/rulenet"
	_ "github.com/accrete-ml/accrete/learners/theory"
	_ "github.com/accrete-ml/accrete/learners/tree"
)
