package draw

import (
	"bytes"
	"fmt"
	"io"
)

// Large is the size in units of SVG, about pixels of a screen, beyond which a picture
// is read part by part.
const Large = 4000

// Sized makes a picture, and returns what writes it again and how large it is, 0
// where it does not say.
func Sized(picture func(io.Writer) error) (again func(io.Writer) error, wide, high float64, err error) {
	var svg bytes.Buffer
	if err := picture(&svg); err != nil {
		return nil, 0, 0, err
	}
	if at := bytes.Index(svg.Bytes(), []byte("<svg ")); at >= 0 {
		head := svg.Bytes()[at:min(at+200, svg.Len())]
		_, _ = fmt.Sscanf(string(head), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %f %f"`, &wide, &high) // else it does not say
	}
	return func(w io.Writer) error {
		_, err := w.Write(svg.Bytes())
		return err
	}, wide, high, nil
}
