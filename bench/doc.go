// Package bench measures what the product promises about speed, as ratios within one run.
// It may import everything of ours except cmd. Machines are noisy: every figure stands beside another of the same run.
package bench
