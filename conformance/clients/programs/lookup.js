// lookup.js lookup|resolve NAME A|AAAA|both|SRV: what Node finds by libc (dns.lookup) or by c-ares (dns.resolve*).
'use strict';
const dns = require('node:dns').promises;

const [api, name, want] = process.argv.slice(2);

async function lookup() {
  const family = {A: 4, AAAA: 6, both: 0}[want];
  return (await dns.lookup(name, {all: true, family})).map((each) => each.address);
}

async function resolve() {
  if (want === 'SRV') return (await dns.resolveSrv(name)).map((each) => each.name);
  return dns.resolve(name, want);
}

const tell = (said) => process.stdout.write(JSON.stringify(said) + '\n');
(api === 'lookup' ? lookup() : resolve()).then(
  (found) => tell({found}),
  (error) => tell({error: error.code || String(error)}),
);
