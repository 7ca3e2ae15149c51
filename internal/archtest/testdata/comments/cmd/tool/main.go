// Command tool does one thing well.
package main
