package testpg

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestTemplateIsPreparedOnce(t *testing.T) {
	prepared := 0
	template := Template{Prepare: func(url string) error {
		prepared++
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), "CREATE TABLE mark (n int); INSERT INTO mark VALUES (1)")
		return err
	}}
	first, second := connect(t, template.URL(t)), connect(t, template.URL(t))
	run(t, first, "INSERT INTO mark VALUES (2)")
	if got := count(t, second, "SELECT count(*) FROM mark"); got != 1 || prepared != 1 {
		t.Errorf("%d rows in the second copy of a template prepared %d times, want 1 and 1", got, prepared)
	}
	name := template.name
	if err := template.drop(); err != nil {
		t.Fatal(err)
	}
	if got := count(t, first, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); got != 0 {
		t.Errorf("the template is still there")
	}
}
