package evaluate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// svg draws a picture and checks that it is XML.
func svg(t *testing.T, p Picture) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestPictures(t *testing.T) {
	rows := samples(200, 3, .3, 1)
	r, err := CrossValidate(background, spec(rows, 2, &lookup{Prior: 1}), 5)
	if err != nil {
		t.Fatal(err)
	}
	c, err := LearningCurve(background, spec(rows, 2, &lookup{Prior: 1}), CurveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prequential(background, spec(rows, 2, &lookup{Prior: 1}), PrequentialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for picture, word := range map[string]string{
		svg(t, r.ConfusionChart()):   "confusion: lookup on made up",
		svg(t, r.ReliabilityChart()): "ECE",
		svg(t, c.Chart()):            "rows learnt from",
		svg(t, p.PrequentialChart()): "last 1000",
	} {
		if !strings.Contains(picture, word) {
			t.Errorf("no %q in the picture", word)
		}
	}
	if c.GrowthChart() != nil || p.GrowthChart() != nil || r.GrowthChart() != nil {
		t.Error("models without units do not grow")
	}
	c.Points[0].Units, p.Prequential.Points[0].Units = 2.5, 3
	for _, growing := range []Picture{c.GrowthChart(), p.GrowthChart()} {
		if !strings.Contains(svg(t, growing), "growth: lookup on made up") {
			t.Error("no growth in the picture")
		}
	}
	y, err := CrossValidate(background, spec(measured(50, 1, 1), 1, &lookup{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	if y.ConfusionChart() != nil || y.ReliabilityChart() != nil || y.PrequentialChart() != nil {
		t.Error("a numeric target has no such pictures")
	}
}
