// The certified provider oidc-provider, for tests: node provider.mjs PORT. Whoever comes is alice, and consents.
// The client vimbroker-cli is a person's command line; "pipeline" has the claims of a job of GitHub
// Actions, "gitlab-job" of one of GitLab, and there is a job of a fork, and of a branch that is not protected.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const port = Number(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const job = {
  repository: 'acme/edge', environment: 'prod', ref: 'refs/heads/main', ref_protected: 'true', event_name: 'push',
  job_workflow_ref: 'acme/ci/.github/workflows/deploy.yml@refs/heads/main',
};
const gitlab = {
  namespace_path: 'acme', project_path: 'acme/edge', project_id: '42', user_login: 'alice', pipeline_source: 'push', pipeline_id: '7',
  job_id: '8', ref: 'main', ref_type: 'branch', ref_protected: 'true', environment: 'prod', environment_protected: 'true',
  ci_config_ref_uri: 'gitlab.example/acme/edge//.gitlab-ci.yml@refs/heads/main',
};
const fork = { ...job, repository: 'evil/edge', event_name: 'pull_request', ref: 'refs/pull/1/merge' };
const machine = (id) => ({
  client_id: id, client_secret: 'secret', grant_types: ['client_credentials'], response_types: [], redirect_uris: [],
});

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...jwk, kid: 'k1', use: 'sig', alg: 'ES256' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  cookies: { keys: ['of a test'] },
  clients: [
    {
      client_id: 'vimbroker-cli', token_endpoint_auth_method: 'none', application_type: 'native', response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/ui/callback'],
    },
    machine('pipeline'), machine('fork'), machine('gitlab-job'), machine('gitlab-fork'), machine('gitlab-branch'),
  ],
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  extraTokenClaims: (ctx, token) => ({
    pipeline: job, fork, 'gitlab-job': gitlab, 'gitlab-fork': { ...gitlab, project_path: 'evil/edge', project_id: '43' },
    'gitlab-branch': { ...gitlab, ref: 'try', ref_protected: 'false' }, 'vimbroker-cli': { groups: ['noc'], preferred_username: 'Alice' },
  })[token.clientId],
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 45 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'urn:vimbroker',
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'openid offline_access', audience: 'vimbroker', accessTokenFormat: 'jwt', accessTokenTTL: 45, jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope('openid offline_access');
    grant.addResourceScope('urn:vimbroker', 'openid offline_access');
    await grant.save();
    return grant;
  },
});
const answer = provider.callback();
createServer((req, res) => {
  if (req.url.startsWith('/interaction/')) {
    provider.interactionFinished(req, res, { login: { accountId: 'alice' }, consent: {} }).catch((err) => { res.statusCode = 500; res.end(String(err)); });
    return;
  }
  answer(req, res);
}).listen(port, '127.0.0.1', () => console.log('provider listens'));
