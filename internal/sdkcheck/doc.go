// Package sdkcheck holds our readers of the two protocols to those of their inventors: the vendors' own SDKs read the same answers from loopback and must
// find the same text, calls, reason and usage in them, and what we send must fit their types without a rest. It is a module of its own, so that nobody
// else has to build those SDKs; `make sdkcheck` runs it. Its tests import model and its providers.
package sdkcheck
