package kept

import "github.com/accrete-ml/accrete/learn"

// PackNumbers returns numbers in the form in which columns are saved: as whole
// numbers if all are decimals of few digits, by a dictionary if they are few, else
// bit by bit. Missing ones stay missing.
func PackNumbers(x []float64) ([]byte, error) { return learn.Marshal(packFloats(x)) }

// UnpackNumbers reads what PackNumbers wrote, so many numbers.
func UnpackNumbers(data []byte, rows int) ([]float64, error) {
	var p packed
	if err := learn.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	if rows == 0 {
		return []float64{}, nil
	}
	return p.unpackFloats(rows)
}
