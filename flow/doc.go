// Package flow is what authors of durable code write: plain Go functions over a Context whose effects are journaled by key.
// It may import the root package; the engine carries out what leaves a function through Recorder.
//
// On resume a function runs again from the top. A recorded effect returns its recorded outcome without doing anything; the first unrecorded
// one really happens. So between effects a flow must be a function of what its effects returned: no clock, no randomness, no goroutines and
// no input or output of its own. Now and Random record what they give; All and Each run branches; everything else goes into a Step.
// Package flowcheck finds what does not keep to that; at run time an effect in a goroutine or inside another one fails the run.
package flow
