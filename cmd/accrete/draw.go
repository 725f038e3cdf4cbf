package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accrete-ml/accrete/draw"
	"github.com/accrete-ml/accrete/draw/raster"
	"github.com/accrete-ml/accrete/internal/console"
	"github.com/accrete-ml/accrete/life"
)

func (a *app) drawCommand() *cobra.Command {
	var (
		out     string
		what    life.Drawing
		weights int
		flags   dataFlags
		sources sourceFlags
	)
	c := &cobra.Command{
		Use:   "draw MODEL [--top N] [--columns X,Y [--on DATA] | --regions X,Y [--on DATA] | --curve[=units|normal|inputs|nodes|epochs|outputs|hidden|weights] [--seeds N] | --board[=DATA] | --weights[=N] | --hidden DATA | --network | --proof GOAL] [--out FILE]",
		Short: "Draw a model as a picture",
		Long:  help("draw"),
		Example: `  accrete draw votes --out votes.svg
  accrete draw votes --top 8 --out votes.png
  accrete draw boston --columns rm,medv --out ovals.svg
  accrete draw iris --regions 'petal length (cm),petal width (cm)' --out regions.svg
  accrete draw kin --proof 'ancestor(ann,X)' --out proof.svg
  accrete draw faces --weights=32 --out units.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if what.On != "" && what.Columns == "" && what.Regions == "" {
				return usagef("--on is the data to draw over two columns; name them with --columns X,Y or --regions X,Y")
			}
			if what.Seeds > 0 && what.Curve == "" {
				return usagef("--seeds is for learning curves; say --curve too")
			}
			if weights >= 0 {
				what.Weights = &weights
			}
			what.Reading = flags.Reading
			return a.draw(c, args[0], out, &what, &sources)
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write: .svg, .png or .html (default: SVG on standard output)")
	console.CountVar(c.Flags(), &what.Top, "top", 0, 0, console.MostCount, "units, rules or nodes to draw at most: those that say most")
	c.Flags().StringVar(&what.Columns, "columns", "", "two numeric columns to draw the units or cases over, as X,Y")
	c.Flags().StringVar(&what.Regions, "regions", "", "two columns to draw the answers of any model over, as X,Y")
	c.Flags().StringVar(&what.On, "on", "", "data to draw with --columns or --regions (default: what the model learnt)")
	c.Flags().StringVar(&what.Curve, "curve", "", "likelihood of unseen rows against the number of units, or of normal conclusions, or of inputs; accuracy against the nodes of a tree; errors, outputs' errors, hidden units and weights against epochs")
	c.Flags().Lookup("curve").NoOptDefVal = "units"
	console.CountVar(c.Flags(), &what.Seeds, "seeds", 0, 0, 1000, "with --curve of a policy: act again with so many seeds, and draw their mean")
	c.Flags().StringVar(&what.Board, "board", "", "the board of a game, and what a policy finds moves worth: the first one, or that of the first row of DATA")
	c.Flags().Lookup("board").NoOptDefVal = life.FirstBoard
	console.CountVar(c.Flags(), &weights, "weights", -1, -1, console.MostCount, "weights of a network: as tables, or as pictures of N inputs a row")
	c.Flags().Lookup("weights").NoOptDefVal = "0"
	c.Flags().Lookup("weights").DefValue = ""
	c.Flags().StringVar(&what.Hidden, "hidden", "", "data whose rows to draw the values of hidden units for")
	c.Flags().StringVar(&what.Proof, "proof", "", "a goal whose proof to draw, such as 'ancestor(ann,X)'")
	c.Flags().BoolVar(&what.Network, "network", false, "the network of a tree of perceptrons (neuraltree), of Gaussian basis functions, or of a perceptron")
	c.MarkFlagsMutuallyExclusive("columns", "regions", "curve", "board", "weights", "hidden", "network", "proof")
	sources.register(c)
	flags.register(c)
	return c
}

func (a *app) draw(c *cobra.Command, ref, out string, what *life.Drawing, sources *sourceFlags) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	if what.Elsewhere, err = sources.elsewhere(); err != nil {
		return err
	}
	p, err := h.Load(ref)
	if err != nil {
		return err
	}
	picture, err := h.Draw(c.Context(), p, what)
	if err != nil {
		return err
	}
	picture, wide, high, err := draw.Sized(picture)
	if err != nil {
		return err
	}
	if out != "" && filepath.Ext(out) != ".html" && max(wide, high) > draw.Large {
		a.notes([]string{fmt.Sprintf("the picture is %.0f by %.0f, too large to be read at once: --top 12 draws what weighs most, --out NAME.html a page that one can zoom", wide, high)})
	}
	write, err := inForm(out, p.Version.Model, picture)
	if err != nil {
		return err
	}
	if err := a.output(out, write, what.On, what.Hidden); err != nil {
		return err
	}
	if out != "" && a.json {
		return a.printJSON(struct {
			Model   string `json:"model"`
			Version int    `json:"version"`
			File    string `json:"file"`
		}{p.Version.Model, p.Version.Number, out})
	}
	return nil
}

// inForm returns what writes a picture in the form that a file's name asks for.
func inForm(file, title string, svg func(io.Writer) error) (func(io.Writer) error, error) {
	switch extension := strings.ToLower(filepath.Ext(file)); extension {
	case "", ".svg":
		return svg, nil
	case ".png":
		return func(w io.Writer) error { return raster.PNG(w, svg) }, nil
	case ".html", ".htm":
		return func(w io.Writer) error { return draw.ZoomHTML(w, title, svg) }, nil
	default:
		return nil, usagef("%s: pictures are not written as %s; expected .svg, .png or .html", file, extension)
	}
}
