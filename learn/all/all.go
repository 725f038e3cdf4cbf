// Package all brings in every learner. Importing it registers them; a new
// learner adds its line here.
package all

import (
	_ "github.com/accrete-ml/accrete/bayes"
	_ "github.com/accrete-ml/accrete/ensemble"
	_ "github.com/accrete-ml/accrete/gaussian"
	_ "github.com/accrete-ml/accrete/neural"
	_ "github.com/accrete-ml/accrete/neuraltree"
	_ "github.com/accrete-ml/accrete/prior"
	_ "github.com/accrete-ml/accrete/rulenet"
	_ "github.com/accrete-ml/accrete/tree"
)
