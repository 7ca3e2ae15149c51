// Package config reads holdshort.yaml: strictly, with the place of every fault, and prints its JSON Schema. It also decides the mode of a
// pause, for YAML and for code alike. It may import the root package, policy and the YAML parser.
package config
