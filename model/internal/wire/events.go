package wire

import (
	"bufio"
	"bytes"
	"io"
)

// slack is what one event may have beyond the text in it.
const slack = 1 << 20

// Event is one server-sent event.
type Event struct {
	Name string
	Data []byte
}

// Events reads server-sent events as the HTML standard describes them: any line end, comments, several lines of data. An event that was not
// ended by an empty line is dropped.
type Events struct {
	from   *bufio.Reader
	max    int
	first  bool
	skipLF bool // the last line ended in CR, and a LF would belong to that
	line   []byte
	data   []byte // of the event under way
}

// Events gives the events of the answer.
func (a *Answer) Events() *Events {
	a.limit = a.max*framing + slack
	return newEvents(a, int(a.max)+slack)
}

func newEvents(from io.Reader, max int) *Events {
	return &Events{from: bufio.NewReaderSize(from, 16<<10), max: max, first: true}
}

// Next gives the next event with data, or io.EOF at the end of the stream. Data is good until the next call.
func (s *Events) Next() (Event, error) {
	var name string
	s.data = s.data[:0]
	has := false
	for {
		line, err := s.next()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				return Event{Name: name, Data: bytes.TrimSuffix(s.data, []byte("\n"))}, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if len(s.data)+len(value) > s.max {
				return Event{}, errTooLarge
			}
			s.data = append(append(s.data, value...), '\n')
			has = true
		}
	}
}

// next reads one line, without its end.
func (s *Events) next() ([]byte, error) {
	s.line = s.line[:0]
	for {
		if _, err := s.from.Peek(1); err != nil {
			return nil, err // at the end of the stream too: half a line belongs to an event that never ended
		}
		chunk, err := s.from.Peek(s.from.Buffered())
		if err != nil {
			return nil, err
		}
		if s.first {
			s.first = false
			if bytes.HasPrefix(chunk, []byte("\ufeff")) {
				_, _ = s.from.Discard(len("\ufeff"))
				continue
			}
		}
		if s.skipLF {
			s.skipLF = false
			if chunk[0] == '\n' {
				_, _ = s.from.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			end = len(chunk)
		}
		if len(s.line)+end > s.max {
			return nil, errTooLarge
		}
		s.line = append(s.line, chunk[:end]...)
		if end == len(chunk) {
			_, _ = s.from.Discard(end)
			continue
		}
		s.skipLF = chunk[end] == '\r'
		_, _ = s.from.Discard(end + 1)
		return s.line, nil
	}
}
