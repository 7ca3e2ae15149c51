// Package curt is.
package curt // want `is a sentence`
