package config

// Unbuilt names the sections that are read and checked, and that this build does not run yet. A server that left them out silently would not
// do what its configuration says.
func (c Config) Unbuilt() []string {
	var names []string
	for _, s := range []struct {
		name  string
		there bool
	}{
		{"channels", len(c.Channels) > 0},
	} {
		if s.there {
			names = append(names, s.name)
		}
	}
	return names
}
