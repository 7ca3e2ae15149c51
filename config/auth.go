package config

// Auth says who is who.
type Auth struct {
	Tenant string              `yaml:"tenant" doc:"Tenant of people whose tokens name none. Default: default."`
	OIDC   *OIDC               `yaml:"oidc" doc:"OpenID Connect: login for pages, and bearer tokens of the same issuer."`
	JWT    *JWT                `yaml:"jwt" doc:"Bearer tokens of an issuer."`
	Roles  map[string][]string `yaml:"roles" doc:"Role to those who have it: ids of people, or \"group:NAME\" (quoted)."`
}

// OIDC is an OpenID Connect provider.
type OIDC struct {
	Issuer       string   `yaml:"issuer" need:"yes" doc:"Issuer's address, as its tokens say it."`
	ClientID     string   `yaml:"client_id" need:"yes" doc:"Of this server at the issuer; the audience of tokens."`
	ClientSecret string   `yaml:"client_secret" secret:"yes" doc:"Of this server at the issuer. Default: none, a public client."`
	RedirectURL  string   `yaml:"redirect_url" doc:"Where the issuer sends people back. Default: server.public_url and /login/callback."`
	Scopes       []string `yaml:"scopes" doc:"Asked for at login. Default: openid, email, profile."`
	Audience     []string `yaml:"audience" doc:"Of bearer tokens. Default: client_id."`
	Prefix       string   `yaml:"prefix" doc:"Put in front of ids. Default: none."`
	User         string   `yaml:"user_claim" doc:"Claim that is a person's id. Default: the e-mail address if the issuer verified it, else sub."`
	Name         string   `yaml:"name_claim" doc:"Claim with the name to show. Default: name."`
	Roles        string   `yaml:"roles_claim" doc:"Claim with roles, taken as they are. Default: none, an issuer's admin need not be ours."`
	Groups       string   `yaml:"groups_claim" doc:"Claim with groups, for group:NAME. Default: groups."`
	Tenant       string   `yaml:"tenant_claim" doc:"Claim that names the tenant. Default: none, everybody is of auth.tenant."`
}

// JWT is an issuer of bearer tokens. One of KeysURL, KeysFile and Secret says how they are checked; none: the issuer's discovery document.
type JWT struct {
	Issuer     string   `yaml:"issuer" need:"yes" doc:"Issuer, as its tokens say it."`
	Audience   []string `yaml:"audience" need:"yes" doc:"A token must have one of them."`
	KeysURL    string   `yaml:"keys_url" doc:"Address of its public keys (JWKS). Default: found by the issuer's discovery document."`
	KeysFile   string   `yaml:"keys_file" doc:"File with its public keys: JWKS or PEM."`
	Secret     string   `yaml:"secret" secret:"yes" doc:"Shared secret of at least 32 bytes, for HS256."`
	Algorithms []string `yaml:"algorithms" doc:"Taken. Default: RS256, PS256, ES256, ES384, EdDSA; with a secret HS256."`
	Prefix     string   `yaml:"prefix" doc:"Put in front of ids. Default: none."`
	User       string   `yaml:"user_claim" doc:"Claim that is a person's id. Default: the e-mail address if the issuer verified it, else sub."`
	Name       string   `yaml:"name_claim" doc:"Claim with the name to show. Default: name."`
	Roles      string   `yaml:"roles_claim" doc:"Claim with roles, taken as they are. Default: none."`
	Groups     string   `yaml:"groups_claim" doc:"Claim with groups, for group:NAME. Default: groups."`
	Tenant     string   `yaml:"tenant_claim" doc:"Claim that names the tenant. Default: none."`
}
