package model

import "context"

// Priced is m with what its answers cost by these prices, for models that know none.
func Priced(m Model, p Prices) Model {
	return Func(func(ctx context.Context, req Request, say func(text string)) (Response, error) {
		r, err := m.Generate(ctx, req, say)
		if r.Usage.Cost == 0 {
			r.Usage.Cost = p.Of(r.Usage)
		}
		return r, err
	})
}
