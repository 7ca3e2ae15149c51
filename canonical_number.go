package holdshort

import (
	"bytes"
	"strconv"
)

// safeDigits is how many decimal digits of an integer every double keeps.
const safeDigits = 15

// number reads a number and writes it as ECMAScript would print the double nearest to it. The two must have exactly the same decimal
// value: whoever reads the canonical form as a double, or as a decimal, reads what was sent.
func (w *canonicalWriter) number() *Error {
	start := w.at
	negative := w.in[w.at] == '-'
	if negative {
		w.at++
	}
	whole := w.digits()
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return w.refuse("not a JSON number", "numbers have digits on both sides of a point and no leading zeros")
	}
	var fraction, exponent []byte
	if w.at < len(w.in) && w.in[w.at] == '.' {
		w.at++
		if fraction = w.digits(); len(fraction) == 0 {
			return w.refuse("a number ends in a point", "write 1.0 or 1")
		}
	}
	if w.at < len(w.in) && w.in[w.at]|0x20 == 'e' {
		w.at++
		sign := w.at
		if w.at < len(w.in) && (w.in[w.at] == '+' || w.in[w.at] == '-') {
			w.at++
		}
		if len(w.digits()) == 0 {
			return w.refuse("a number's exponent has no digits", "write 1e2, for example")
		}
		exponent = w.in[sign:w.at]
	}
	if fraction == nil && exponent == nil && len(whole) <= safeDigits {
		if negative && whole[0] != '0' { // there is one zero
			w.out = append(w.out, '-')
		}
		w.out = append(w.out, whole...)
		return nil
	}
	return w.double(string(w.in[start:w.at]), whole, fraction, exponent)
}

func (w *canonicalWriter) double(literal string, whole, fraction, exponent []byte) *Error {
	inexact := func() *Error {
		return w.refuse("a number does not survive as a double", "send it as a string: long ids, amounts and decimals keep every digit there")
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return inexact() // beyond the largest double
	}
	var room [40]byte
	sent, sentPoint := significant(room[:0], whole, fraction)
	if len(sent) == 0 {
		w.out = append(w.out, '0')
		return nil
	}
	if f == 0 {
		return inexact() // below the smallest one
	}
	if exponent != nil {
		shift, err := strconv.Atoi(string(exponent))
		if err != nil {
			return inexact()
		}
		sentPoint += shift
	}

	var buf [32]byte
	shortest := strconv.AppendFloat(buf[:0], f, 'e', -1, 64) // -d.ddde±dd
	if shortest[0] == '-' {
		shortest = shortest[1:]
		w.out = append(w.out, '-')
	}
	mantissa, power, _ := bytes.Cut(shortest, []byte("e"))
	scale, err := strconv.Atoi(string(power))
	if err != nil {
		return inexact()
	}
	kept := mantissa[:1]
	if len(mantissa) > 2 { // close the gap that the point leaves
		kept = append(kept, mantissa[2:]...)
	}
	if string(kept) != string(sent) || scale+1 != sentPoint {
		return inexact()
	}
	w.out = appendECMAScript(w.out, kept, scale+1)
	return nil
}

// digits steps over digits and gives them.
func (w *canonicalWriter) digits() []byte {
	start := w.at
	for w.at < len(w.in) && w.in[w.at] >= '0' && w.in[w.at] <= '9' {
		w.at++
	}
	return w.in[start:w.at]
}

// significant gives the digits of whole.fraction without zeros around them, and where the point stands: the value is 0.digits × 10^point.
// No digits mean zero.
func significant(room, whole, fraction []byte) (digits []byte, point int) {
	all := append(append(room, whole...), fraction...)
	trimmed := bytes.TrimLeft(all, "0")
	point = len(whole) - (len(all) - len(trimmed))
	return bytes.TrimRight(trimmed, "0"), point
}

// appendECMAScript writes 0.digits × 10^point as Number.prototype.toString does.
func appendECMAScript(out, digits []byte, point int) []byte {
	k := len(digits)
	switch {
	case k <= point && point <= 21:
		out = append(out, digits...)
		return append(out, bytes.Repeat([]byte("0"), point-k)...)
	case 0 < point && point <= 21:
		out = append(out, digits[:point]...)
		out = append(out, '.')
		return append(out, digits[point:]...)
	case -6 < point && point <= 0:
		out = append(out, "0."...)
		out = append(out, "00000"[:-point]...)
		return append(out, digits...)
	}
	out = append(out, digits[0])
	if k > 1 {
		out = append(out, '.')
		out = append(out, digits[1:]...)
	}
	out = append(out, 'e')
	if point > 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(point-1), 10)
}
