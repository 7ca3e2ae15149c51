// Package telemetry watches a running engine and its door: metrics in Prometheus' text format, OpenTelemetry traces that follow one piece of
// work through every process that touches it, and logs that carry the ids of both. It may import the root package, engine and OpenTelemetry.
package telemetry
