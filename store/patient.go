package store

import "context"

type patient struct{}

// Patient marks work that can wait: a sweep of many things that fell due at once, say. A store takes only a few of such transactions into a
// commit and lets everybody else go first, so that a person who decides does not stand behind thousands. They are never left out altogether.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patient{}, true) }

// IsPatient reports whether ctx came from Patient.
func IsPatient(ctx context.Context) bool { return ctx.Value(patient{}) != nil }
