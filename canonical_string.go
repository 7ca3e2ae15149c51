package holdshort

import "unicode/utf8"

// stringInto reads a string and writes it the one way. With keep it also gives what the string means, which stays valid until the end.
func (w *canonicalWriter) stringInto(keep bool) ([]byte, *Error) {
	w.at++
	start := w.at
	for w.at < len(w.in) {
		switch c := w.in[w.at]; {
		case c == '"': // without escapes a string is canonical as it stands
			s := w.in[start:w.at]
			w.out = append(w.out, w.in[start-1:w.at+1]...)
			w.at++
			return s, nil
		case c == '\\':
			return w.escapedString(start, keep)
		default:
			if err := w.character(c); err != nil {
				return nil, err
			}
		}
	}
	return nil, w.endless()
}

// escapedString goes on at the first escape of a string that began at start.
func (w *canonicalWriter) escapedString(start int, keep bool) ([]byte, *Error) {
	var s []byte
	if keep {
		s = append(s, w.in[start:w.at]...)
	}
	w.out = append(w.out, w.in[start-1:w.at]...)
	for w.at < len(w.in) {
		from := w.at
		switch c := w.in[w.at]; {
		case c == '"':
			w.at++
			w.out = append(w.out, '"')
			return s, nil
		case c == '\\':
			r, err := w.escape()
			if err != nil {
				return nil, err
			}
			w.out = appendCanonicalRune(w.out, r)
			if keep {
				s = utf8.AppendRune(s, r)
			}
		default:
			if err := w.character(c); err != nil {
				return nil, err
			}
			w.out = append(w.out, w.in[from:w.at]...)
			if keep {
				s = append(s, w.in[from:w.at]...)
			}
		}
	}
	return nil, w.endless()
}

// character steps over one unescaped character, which begins with c.
func (w *canonicalWriter) character(c byte) *Error {
	switch {
	case c < ' ':
		return w.refuse("a string holds a raw control character", "escape it as \\n, \\t or \\u00XX")
	case c < utf8.RuneSelf:
		w.at++
		return nil
	}
	r, size := utf8.DecodeRune(w.in[w.at:])
	if r == utf8.RuneError && size <= 1 {
		return w.refuse("a string is not valid UTF-8", "send UTF-8 text; binary data goes as base64")
	}
	w.at += size
	return nil
}

// escape reads one escape, or the two of a surrogate pair.
func (w *canonicalWriter) escape() (rune, *Error) {
	if w.at++; w.at == len(w.in) {
		return 0, w.endless()
	}
	c := w.in[w.at]
	w.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return w.unicodeEscape()
	}
	return 0, w.refuse("a string holds an unknown escape", "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX")
}

func (w *canonicalWriter) unicodeEscape() (rune, *Error) {
	high, ok := w.hex4()
	if !ok {
		return 0, w.refuse("a \\u escape needs four hexadecimal digits", "write \\u00e9, for example")
	}
	if high < 0xD800 || high > 0xDFFF {
		return high, nil
	}
	if high <= 0xDBFF && w.at+1 < len(w.in) && w.in[w.at] == '\\' && w.in[w.at+1] == 'u' {
		w.at += 2
		if low, ok := w.hex4(); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (high-0xD800)<<10 + (low - 0xDC00), nil
		}
	}
	return 0, w.refuse("a string holds half of a surrogate pair", "send whole characters: text was cut in the middle of one")
}

func (w *canonicalWriter) hex4() (rune, bool) {
	if w.at+4 > len(w.in) {
		return 0, false
	}
	var r rune
	for _, c := range w.in[w.at : w.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	w.at += 4
	return r, true
}

func (w *canonicalWriter) endless() *Error {
	return w.refuse("a string has no end", "close it with a double quote")
}

// appendCanonicalRune escapes only what JSON must: quote, backslash and the control characters, the short way where there is one.
func appendCanonicalRune(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(out, '\\', byte(r))
	case '\b':
		return append(out, '\\', 'b')
	case '\f':
		return append(out, '\\', 'f')
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	if r < ' ' {
		return append(out, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
	}
	return utf8.AppendRune(out, r)
}
