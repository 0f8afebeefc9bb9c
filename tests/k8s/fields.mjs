// Whether every field of manifests is one that Kubernetes knows, and of the right type. What it knows is read from the types
// in the npm package @kubernetes/client-node, of which each version is generated from one version of Kubernetes.
//
//   node fields.mjs PACKAGE_DIR <manifests.json        a list of objects; prints what is wrong, a line each
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const generated = path.join(process.argv[2], 'dist/gen');
const anything = new Set(['any', 'object', 'IntOrString', 'Date', 'V1MicroTime']);
const scalars = new Set(['string', 'number', 'boolean']);

// Older versions of the package keep model/v1Pod.js, newer ones models/V1Pod.js.
async function fields_of(type) {
    const file = [`models/${type}.js`, `model/${type[0].toLowerCase()}${type.slice(1)}.js`]
        .map((name) => path.join(generated, name)).find((name) => fs.existsSync(name));
    if (!file) return null;
    const module = await import(pathToFileURL(file));
    return new Map(module[type].getAttributeTypeMap().map((field) => [field.baseName, field.type]));
}

async function check(value, type, where) {
    let match;
    if (value === null || anything.has(type)) return;
    if ((match = /^Array<(.*)>$/.exec(type)) || (match = /^Set<(.*)>$/.exec(type))) {
        if (!Array.isArray(value)) return console.log(`${where}: takes a list`);
        for (const [i, element] of value.entries()) await check(element, match[1], `${where}[${i}]`);
    } else if ((match = /^\{ \[key: string\]: (.*); \}$/.exec(type))) {
        for (const key in value) await check(value[key], match[1], `${where}.${key}`);
    } else if (scalars.has(type)) {
        if (typeof value !== type) console.log(`${where}: takes a ${type}, not ${JSON.stringify(value)}`);
    } else {
        const fields = await fields_of(type);
        if (!fields) return console.log(`${where}: there is no type ${type}`);
        if (typeof value !== 'object' || Array.isArray(value)) return console.log(`${where}: takes a ${type}`);
        for (const key in value) {
            if (!fields.has(key)) console.log(`${where}.${key}: ${type} has no such field`);
            else await check(value[key], fields.get(key), `${where}.${key}`);
        }
    }
}

for (const object of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const version = object.apiVersion.split('/').pop();
    await check(object, version[0].toUpperCase() + version.slice(1) + object.kind, `${object.kind}/${object.metadata.name}`);
}
