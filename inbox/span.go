package inbox

import (
	"fmt"
	"strconv"
	"time"
)

// span is a length of time as people say it.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		if minutes := int(d/time.Minute) % 60; minutes > 0 && d < 10*time.Hour {
			return fmt.Sprintf("%d h %d min", int(d/time.Hour), minutes)
		}
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

// ago is how long something is past.
func ago(d time.Duration) string {
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

// remaining is how long is left, to the second where that counts.
func remaining(d time.Duration) string {
	if d <= 0 {
		return "time is up"
	}
	if d < 10*time.Minute {
		return fmt.Sprintf("%d:%02d left", int(d/time.Minute), int(d/time.Second)%60)
	}
	return span(d) + " left"
}

// number groups the digits of a whole number.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
