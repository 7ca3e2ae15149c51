package postgres

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/holdshort/holdshort"
)

// CheckURL returns the error that Open would refuse a URL with. It connects to nothing. Like Open it reads the PG…
// variables of the environment, and the certificate files that the URL names.
func CheckURL(url string) error {
	_, err := parseURL(url)
	return err
}

func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "store", Op: "read the store's URL",
			Message: "it is not a PostgreSQL URL",
			Hint:    "write postgres://USER@HOST:5432/DATABASE; check the port, the parameters and the files that they name",
		} // not the cause: it would show the password
	}
	return config, nil
}
