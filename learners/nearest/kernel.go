package nearest

// lanes is how many numbers a vector instruction takes at a time; rows of a
// space are padded with zeros to a multiple of it.
const lanes = 8

// squares writes the squared distances of a question to rows that stand one
// behind the other. All have as many numbers as the question.
func squares(asked, rows []float32, out []float32) {
	blocks := len(asked) / lanes
	if len(out) == 0 || blocks == 0 {
		clear(out)
		return
	}
	_ = rows[len(out)*len(asked)-1]
	if vectors {
		squaresVector(blocks, &asked[0], &rows[0], len(out), &out[0])
		return
	}
	for i := range out {
		out[i] = squarePlain(asked, rows[i*len(asked):(i+1)*len(asked)])
	}
}

// square returns the squared distance of two rows.
func square(a, b []float32) float32 {
	if vectors && len(a) >= lanes {
		_ = b[len(a)-1]
		var out float32
		squaresVector(len(a)/lanes, &a[0], &b[0], 1, &out)
		return out
	}
	return squarePlain(a, b)
}

// squaresAt writes the squared distances of a question to some rows of many.
func squaresAt(asked, rows []float32, at []int32, out []float32) {
	blocks := len(asked) / lanes
	if len(at) == 0 || blocks == 0 {
		clear(out[:len(at)])
		return
	}
	_ = out[len(at)-1]
	if vectors {
		squaresAtVector(blocks, &asked[0], &rows[0], len(at), &at[0], &out[0])
		return
	}
	for i, r := range at {
		out[i] = squarePlain(asked, rows[int(r)*len(asked):(int(r)+1)*len(asked)])
	}
}

// outside returns the squared distance of a question to a box, given by its
// least corner and, behind that, its greatest.
func outside(asked, box []float32) float32 {
	if vectors && len(asked) >= lanes {
		_ = box[2*len(asked)-1]
		return outsideVector(len(asked)/lanes, &asked[0], &box[0])
	}
	var sums [lanes]float32
	low, high := box[:len(asked)], box[len(asked):2*len(asked)]
	for d, q := range asked {
		e := max(low[d]-q, q-high[d], 0)
		sums[d%lanes] += float32(e * e)
	}
	return added(&sums)
}

// squarePlain is one squared distance in plain Go. Sums are made in the order of
// the vector instructions, so that they are the same bits; the conversions keep
// compilers from fusing a product with its sum.
func squarePlain(asked, row []float32) float32 {
	var sums [lanes]float32
	row = row[:len(asked)]
	for d := 0; d+lanes <= len(asked); d += lanes {
		q, x := asked[d:d+lanes:d+lanes], row[d:d+lanes:d+lanes]
		for i := range sums {
			e := q[i] - x[i]
			sums[i] += float32(e * e)
		}
	}
	return added(&sums)
}

// turn writes the products of axes, one behind the other, with a point. All have
// as many numbers, a multiple of four.
func turn(axes, p []float64, out []float32) {
	_ = axes[len(out)*len(p)-1]
	if vectors {
		turnVector(len(p)/4, len(out), &axes[0], &p[0], &out[0])
		return
	}
	for d := range out {
		out[d] = turnPlain(axes[d*len(p):(d+1)*len(p)], p)
	}
}

func turnPlain(axis, p []float64) float32 {
	var x, y, z, w float64
	p = p[:len(axis)]
	for i := 0; i+4 <= len(axis); i += 4 {
		x += float64(axis[i] * p[i])
		y += float64(axis[i+1] * p[i+1])
		z += float64(axis[i+2] * p[i+2])
		w += float64(axis[i+3] * p[i+3])
	}
	return float32((x + z) + (y + w))
}

func added(s *[lanes]float32) float32 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
