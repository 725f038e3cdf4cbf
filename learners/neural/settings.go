package neural

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/setting"
	"github.com/accrete-ml/accrete/learn"
	"github.com/accrete-ml/accrete/learners/neural/units"
)

// settings are a Learner's choices with defaults filled in.
type settings struct {
	Hidden     []int   `cbor:"hidden"`
	Activation string  `cbor:"activation"`
	Loss       string  `cbor:"loss"`
	Optimiser  string  `cbor:"optimiser"`
	Rate       float64 `cbor:"rate"`
	Schedule   string  `cbor:"schedule"`
	Momentum   float64 `cbor:"momentum"`
	Decay      float64 `cbor:"decay"`
	Batch      int     `cbor:"batch"`
	Epochs     int     `cbor:"epochs"`   // 0: see endurance
	Patience   int     `cbor:"patience"` // 0: see endurance
	Validation float64 `cbor:"validation"`
	Folds      int     `cbor:"folds"`
	Restarts   int     `cbor:"restarts"`
	Committee  int     `cbor:"committee"`
	Prune      float64 `cbor:"prune"`
	PruneBy    string  `cbor:"prune-by,omitempty"` // "" is by damage
	Slope      string  `cbor:"slope,omitempty"`
	Transform  string  `cbor:"transform,omitempty"`
	Width      int     `cbor:"width,omitempty"`
	Together   bool    `cbor:"together,omitempty"`
	Mu         float64 `cbor:"mu,omitempty"`
	Augment    float64 `cbor:"augment,omitempty"`
	Slopes     []Slope `cbor:"slopes,omitempty"` // how wishes about them fared
	Also       string  `cbor:"also,omitempty"`
}

func (l *Learner) settings() (*settings, error) {
	s := &settings{
		Activation: cmp.Or(l.Activation, "relu"), Loss: cmp.Or(l.Loss, "entropy"), Optimiser: cmp.Or(l.Optimiser, "adam"), Rate: l.Rate,
		Schedule: cmp.Or(l.Schedule, "constant"), Momentum: setting.Or(l.Momentum, 0.9), Batch: cmp.Or(l.Batch, 32), Epochs: l.Epochs,
		Patience: l.Patience, Validation: setting.Or(l.Validation, 0.15), Folds: l.Folds, Restarts: cmp.Or(l.Restarts, 1),
		Committee: cmp.Or(l.Committee, 1), Prune: l.Prune, PruneBy: l.PruneBy,
		Slope: l.Slope, Transform: l.Transform, Width: l.Width, Together: l.Scaling == "together", Augment: l.Augment, Also: l.Also,
	}
	if l.Evolution+l.Learning != "" || l.Population != 0 {
		return nil, fmt.Errorf("settings evolution, learning and population: they are for algorithm=evolve, not %s", backpropagation)
	}
	if s.Slope != "" || s.Transform != "" {
		s.Mu = setting.Or(l.Mu, usualMu)
	}
	rate, decay := 0.003, 0.1
	switch s.Optimiser {
	case "momentum":
		rate = 0.03
	case "lbfgs", "cg":
		decay = 0.001
	}
	s.Rate, s.Decay = cmp.Or(s.Rate, rate), setting.Or(l.Decay, decay)
	for _, word := range strings.Split(cmp.Or(l.Hidden, "50"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("setting hidden=%s: expected numbers of units, as in 100 or 50,20", l.Hidden)
		}
		s.Hidden = append(s.Hidden, n)
	}
	if len(s.Hidden) == 1 && s.Hidden[0] == 0 {
		s.Hidden = nil
	}
	return s, s.check()
}

// endurance returns the epochs at most, and those without improvement before
// training stops. Few rows make few steps an epoch, and get more epochs.
func (s *settings) endurance(steps int) (epochs, patience int) {
	return cmp.Or(s.Epochs, max(200, 6000/steps)), cmp.Or(s.Patience, max(10, 300/steps))
}

const mostUnits = 1 << 16

func (s *settings) check() error {
	for _, n := range s.Hidden {
		if n < 1 || n > mostUnits {
			return fmt.Errorf("a hidden layer of %d units; expected 1 to %d", n, mostUnits)
		}
	}
	finite := func(x float64) bool { return x-x == 0 }
	for _, o := range learn.Options(&Learner{}) {
		word, isChoice := map[string]string{"activation": s.Activation, "loss": s.Loss, "optimiser": s.Optimiser, "schedule": s.Schedule}[o.Key]
		if isChoice && !slices.Contains(o.Choices, word) {
			return fmt.Errorf("setting %s=%s: expected one of %s", o.Key, word, strings.Join(o.Choices, ", "))
		}
	}
	switch {
	case !(s.Rate > 0) || !finite(s.Rate):
		return fmt.Errorf("rate %v; expected a positive number", s.Rate)
	case !(s.Momentum >= 0 && s.Momentum < 1):
		return fmt.Errorf("momentum %v; expected 0 or more and less than 1", s.Momentum)
	case !(s.Decay >= 0) || !finite(s.Decay):
		return fmt.Errorf("decay %v; expected 0 or more", s.Decay)
	case !(s.Validation >= 0 && s.Validation <= 0.9):
		return fmt.Errorf("validation %v; expected a share from 0 to 0.9", s.Validation)
	case !(s.Prune >= 0 && s.Prune < 1):
		return fmt.Errorf("prune %v; expected a share from 0 to less than 1", s.Prune)
	case s.Folds < 0 || s.Folds == 1 || s.Folds > 1000:
		return fmt.Errorf("folds %d; expected 2 to 1000, or 0 for none", s.Folds)
	case s.Folds > 0 && s.Restarts > 1:
		return fmt.Errorf("restarts %d with folds %d; restarts are compared on held-out rows, which folds leave none of: choose one", s.Restarts, s.Folds)
	case !(s.Mu >= 0 && s.Mu <= 1e6) || !(s.Augment >= 0 && s.Augment <= 1e6):
		return fmt.Errorf("mu %v, augment %v; expected numbers from 0", s.Mu, s.Augment)
	case (s.Slope != "" || s.Transform != "") && (s.Optimiser == "lbfgs" || s.Optimiser == "cg"):
		return fmt.Errorf("optimiser %s with slopes; expected adam or momentum", s.Optimiser)
	case s.Also != "" && (s.Slope != "" || s.Transform != "" || s.Prune > 0 || s.Folds > 0):
		return fmt.Errorf("setting also=%s: it does not go together with slope, transform, prune and folds, which look at one target", s.Also)
	case s.Augment > 0 && s.Transform == "":
		return fmt.Errorf("augment %v without a transformation; say which, as in transform=shift-x,shift-y", s.Augment)
	case s.Batch < 1 || s.Batch > 1<<20 || s.Epochs < 0 || s.Patience < 0 || s.Restarts < 1 || s.Committee < 1 || s.Committee > 1000:
		return fmt.Errorf("batch %d, epochs %d, patience %d, restarts %d, committee %d; expected positive numbers, a batch of at most %d and a committee of at most 1000",
			s.Batch, s.Epochs, s.Patience, s.Restarts, s.Committee, 1<<20)
	}
	return nil
}

// rate returns the learning rate of the i-th of so many epochs, from 0.
func (s *settings) rate(i, epochs int) float64 {
	switch s.Schedule {
	case "falling":
		return units.Falling(s.Rate)(i + 1)
	case "cosine": // Loshchilov & Hutter 2017
		return s.Rate * (1 + math.Cos(math.Pi*float64(i)/float64(epochs))) / 2
	}
	return s.Rate
}

var activations = map[string]units.Function{"relu": units.Rectifier, "tanh": units.Tanh, "sigmoid": units.Sigmoid}
