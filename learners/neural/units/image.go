package units

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// Shrink makes a picture smaller by whole blocks of block by block pixels,
// each replaced by its mean or, if random is not nil, by one of its pixels,
// which is cheaper and was good enough to drive by (Pomerleau 1993).
func Shrink(pixels []float64, width, block int, random *rand.Rand) ([]float64, error) {
	if width <= 0 || block <= 0 || len(pixels)%width != 0 || width%block != 0 || len(pixels)/width%block != 0 {
		return nil, fmt.Errorf("%d pixels in rows of %d cannot be shrunk by blocks of %d", len(pixels), width, block)
	}
	var small []float64
	for top := 0; top < len(pixels)/width; top += block {
		for left := 0; left < width; left += block {
			if random != nil {
				small = append(small, pixels[(top+random.IntN(block))*width+left+random.IntN(block)])
				continue
			}
			sum := 0.0
			for y := range block {
				for x := range block {
					sum += pixels[(top+y)*width+left+x]
				}
			}
			small = append(small, sum/float64(block*block))
		}
	}
	return small, nil
}

// Picture shows what a unit looks for: the weights of the inputs that it
// reads, in rows of the given width, black for the least and white for the
// greatest, grey for zero. It returns nil if no picture of that width can be
// made.
func (n *Network) Picture(unit, width int) *image.Gray {
	if unit < 0 || unit >= len(n.Units) || width <= 0 || n.Inputs < width || n.Inputs%width != 0 {
		return nil
	}
	weights := make([]float64, n.Inputs)
	most := 0.0
	u := &n.Units[unit]
	for k, from := range u.From {
		if from < n.Inputs {
			weights[from] = n.Weights[u.Weights[k]]
			most = max(most, math.Abs(weights[from]))
		}
	}
	picture := image.NewGray(image.Rect(0, 0, width, n.Inputs/width))
	for i, w := range weights {
		shade := 0.5
		if most > 0 {
			shade += w / most / 2
		}
		picture.SetGray(i%width, i/width, color.Gray{Y: uint8(math.Round(255 * shade))})
	}
	return picture
}
