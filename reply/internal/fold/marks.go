package fold

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hangul writes a syllable as its letters, so that it does not matter how it was typed.
func (f *folder) hangul(index rune) {
	f.write(0x1100 + index/588)
	f.write(0x1161 + index%588/28)
	if tail := index % 28; tail > 0 {
		f.write(0x11A7 + tail)
	}
}

// maxMarks is more than any letter has. What has more is no word, and putting its marks in order would take for ever.
const maxMarks = 30

// mark drops the marks that careful writers add and others leave out, and keeps the rest in canonical order.
func (f *folder) mark(r rune) {
	last, _ := utf8.DecodeLastRune(f.buf[f.start:f.n])
	switch {
	case optional(r) || r == 0x307 && last == 'i':
		return
	case r == 0x20E3 && f.zero != 0:
		f.space(' ') // the frame of a keycap: each is a number of its own
		return
	case r == 0x901:
		r = 0x902
	}
	f.zero, f.emoji = 0, false
	if f.marks == maxMarks {
		f.write(Opaque)
	}
	marks, at, class := f.marks+1, f.n, combiningClass(r)
	for class > 0 {
		before, n := utf8.DecodeLastRune(f.buf[f.start:at])
		if n == 0 || combiningClass(before) <= class {
			break
		}
		at -= n
	}
	end := f.n
	f.write(r)
	f.marks = marks
	if f.full || at == end {
		return
	}
	var enc [utf8.UTFMax]byte
	n := copy(enc[:], f.buf[end:f.n])
	copy(f.buf[at+n:f.n], f.buf[at:end])
	copy(f.buf[at:], enc[:n])
}

func combiningClass(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	var enc [utf8.UTFMax]byte
	n := utf8.EncodeRune(enc[:], r)
	return norm.NFKD.Properties(enc[:n]).CCC()
}
