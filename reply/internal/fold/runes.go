package fold

import "unicode"

// hidden reports characters that show nothing: joiners, bidi marks and isolates, variation selectors, soft hyphens.
// Overrides, which reorder what is shown, and invisible tags, which can spell text, are not among them.
func hidden(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0xFEFF, r == 0x640,
		0x180B <= r && r <= 0x180F,
		0x200B <= r && r <= 0x200F,
		0x202A <= r && r <= 0x202C,
		0x2060 <= r && r <= 0x2064,
		0x2066 <= r && r <= 0x206F,
		0xFE00 <= r && r <= 0xFE0F,
		0xE0100 <= r && r <= 0xE01EF:
		return true
	}
	return false
}

// misleading reports characters whose compatibility form says something else than they show: raised letters and digits
// ("nº" would become "no", "1²" 12), fractions, fillers, controls, overrides.
func misleading(r rune) bool {
	switch {
	case r == Opaque, r == 0xAA, r == 0xBA,
		0x2B0 <= r && r <= 0x2B8, 0x2E0 <= r && r <= 0x2E4,
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0,
		0x1D2C <= r && r <= 0x1D6A, r == 0x1D78, 0x1D9B <= r && r <= 0x1DBF,
		0x2070 <= r && r <= 0x209F, r == 0x2044,
		r == 0x2C7C, r == 0x2C7D, r == 0x2D6F, r == 0x10FC,
		r == 0xA69C, r == 0xA69D, r == 0xA770, 0xA7F2 <= r && r <= 0xA7F9, 0xAB5C <= r && r <= 0xAB5F, r == 0xAB69,
		0x3190 <= r && r <= 0x319F,
		0x10780 <= r && r <= 0x107BF, 0x1E030 <= r && r <= 0x1E06D:
		return true
	case r == 0x85:
		return false
	}
	return unicode.In(r, unicode.No, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// listNumber is the value of an encircled or bracketed list number, ① to ⑳ and the like, or 0.
func listNumber(r rune) rune {
	switch {
	case 0x2460 <= r && r <= 0x2473:
		return r - 0x245F
	case 0x2474 <= r && r <= 0x2487:
		return r - 0x2473
	case 0x2488 <= r && r <= 0x249B:
		return r - 0x2487
	case 0x2776 <= r && r <= 0x277F:
		return r - 0x2775
	case 0x2780 <= r && r <= 0x2789:
		return r - 0x277F
	case 0x278A <= r && r <= 0x2793:
		return r - 0x2789
	}
	return 0
}

// zeroOf finds the zero of a decimal digit's script: decimal digits stand in runs of ten.
func zeroOf(r rune) rune {
	for _, run := range unicode.Nd.R16 {
		if lo, hi := rune(run.Lo), rune(run.Hi); lo <= r && r <= hi {
			return r - (r-lo)%10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if lo, hi := rune(run.Lo), rune(run.Hi); lo <= r && r <= hi {
			return r - (r-lo)%10
		}
	}
	return r
}

// punctuation gives each kind of mark one spelling; 0 drops it; other runes come back unchanged.
func punctuation(r rune) rune {
	switch r {
	case '“', '”', '„', '‟', '«', '»', '‹', '›', '「', '」', '『', '』', '″', '〝', '〞', '〟', '״':
		return '"'
	case '`', '´', '\u1FFD', '‘', '’', '‚', '‛', '′', 'ʼ', 'ʻ', 'ʹ', 'ʽ', 'ʾ', 'ʿ', '׳', 'ꞌ':
		return '\''
	case '№':
		return '#'
	case '‐', '‑', '‒', '–', '—', '―', '−', '־', '﹘':
		return '-'
	case '〜', '∼':
		return '~'
	case '،', '、', '՝', '፣', '߸', '꓾', '᠂':
		return ','
	case '؛', '፤':
		return ';'
	case '。', '۔', '।', '॥', '։', '።', '·', '․', '།', '၊', '။', '។', '᙮', '᠃':
		return '.'
	case '՜', '߹':
		return '!'
	case '¡':
		return 0
	case '¿', '؟', '՞', '፧', '⸮', '‽', '꘏', '⳺':
		return '?'
	case '[', '{', '【', '〔', '《', '〈', '〖':
		return '('
	case ']', '}', '】', '〕', '》', '〉', '〗':
		return ')'
	}
	return r
}

// optional reports marks that a careful writer adds and another leaves out without changing the word: Hebrew points,
// Arabic vowel signs and hamza seats, the nukta of the scripts of India.
func optional(r rune) bool {
	switch {
	case 0x591 <= r && r <= 0x5C7,
		0x610 <= r && r <= 0x61A, 0x64B <= r && r <= 0x65F, r == 0x670, 0x6D6 <= r && r <= 0x6ED,
		r == 0x93C, r == 0x9BC, r == 0xA3C, r == 0xABC, r == 0xB3C, r == 0xCBC, r == 0x110BA, r == 0x11133:
		return true
	}
	return false
}

// letter maps variants of a letter to one: dotless i, final sigma, Arabic, Persian and Urdu forms, katakana.
func letter(r rune) rune {
	switch r {
	case 'ı':
		return 'i'
	case 'ς':
		return 'σ'
	case 0x671:
		return 0x627
	case 0x649, 0x6CC:
		return 0x64A
	case 0x6A9:
		return 0x643
	case 0x629, 0x6C1, 0x6BE:
		return 0x647
	}
	if 0x30A1 <= r && r <= 0x30F6 {
		return r - 0x60
	}
	return r
}
