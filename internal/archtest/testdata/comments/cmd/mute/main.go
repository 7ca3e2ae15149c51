// Package main is a program of some kind.
package main // want `begins "Command mute"`
