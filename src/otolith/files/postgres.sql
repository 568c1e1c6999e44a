-- A team's homes in PostgreSQL 16 or later: documents by space and path. Installed by `otolith admin init`.
--
-- Who may see what is decided here and nowhere else. A key is exchanged for a pass (`enter`): key, principal,
-- spaces that may be read and written, expiry, sealed with a secret that never leaves the database. Each call
-- brings the pass; row-level security, forced, shows only rows of the pass's spaces, also to raw SQL of the
-- same role. Numbers that would tell of other spaces (transactions, sequences) are never given out.
create schema otolith;

create table otolith.about (version integer not null, made timestamptz not null default now(), secret bytea not null);
insert into otolith.about (version, secret)
    values (1, sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

create table otolith.spaces (
    space integer generated always as identity primary key,
    name text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    kind text not null check (kind in ('private', 'project', 'team')),
    made timestamptz not null default now());
create table otolith.principals (
    principal integer generated always as identity primary key,
    name text collate "C" not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{0,62}$'),
    kind text not null check (kind in ('person', 'agent', 'service')),
    behalf integer references otolith.principals,  -- an agent acts for a person and may do no more than they
    made timestamptz not null default now());
create table otolith.members (
    space integer not null references otolith.spaces,
    principal integer not null references otolith.principals,
    role text not null check (role in ('reader', 'writer', 'owner')),
    primary key (space, principal));
create table otolith.keys (
    key integer generated always as identity primary key,
    principal integer not null references otolith.principals,
    digest bytea not null unique,
    scopes text[] not null default '{read,write}',
    made timestamptz not null default now(),
    expires timestamptz,
    used timestamptz,
    revoked timestamptz);
create table otolith.audit (
    at timestamptz not null default clock_timestamp(), verb text not null, what text not null, author text not null default session_user);

create sequence otolith.ticks;
create table otolith.documents (
    space integer not null references otolith.spaces,
    path text collate "C" not null check (length(path) between 1 and 1000),
    id bigint not null,  -- survives moves
    stamp uuid not null,  -- another one with each write
    tx xid8 not null,
    tick bigint not null,
    digest bytea,
    size integer not null,
    written timestamptz not null,
    author integer not null,
    body bytea,  -- null: it grows by lines, which stand in otolith.lines
    primary key (space, path));
create index on otolith.documents (space, tx, tick);
create table otolith.lines (
    space integer not null,
    path text collate "C" not null,
    n bigint generated always as identity,
    author integer not null,
    written timestamptz not null,
    body bytea not null,
    primary key (space, path, n));

-- Passes

create function otolith.seal(message text) returns text language sql stable security definer set search_path = pg_catalog as $$
    select encode(sha256(secret || sha256(secret || convert_to(message, 'UTF8'))), 'hex') from otolith.about $$;

create function otolith.enter(given text) returns text language plpgsql security definer set search_path = pg_catalog as $$
declare known otolith.keys; person integer; readable text; writable text; message text;
begin
    select * into known from otolith.keys k where k.digest = sha256(convert_to(coalesce(given, ''), 'UTF8'));
    if known.key is null or known.revoked is not null or known.expires <= clock_timestamp() then
        raise exception 'the key is not valid' using errcode = '28000';
    end if;
    if known.used is null or known.used < clock_timestamp() - interval '1 minute' then
        update otolith.keys set used = clock_timestamp() where key = known.key;
    end if;
    select coalesce(behalf, principal) into person from otolith.principals where principal = known.principal;
    select coalesce(string_agg(own.space::text, ',' order by own.space) filter (where 'read' = any (known.scopes)), ''),
           coalesce(string_agg(own.space::text, ',' order by own.space)
                    filter (where 'write' = any (known.scopes) and own.role <> 'reader' and theirs.role <> 'reader'
                            and (known.principal = person or s.kind <> 'team' or 'team:write' = any (known.scopes))), '')
        into readable, writable
        from otolith.members own join otolith.members theirs on theirs.space = own.space and theirs.principal = person
        join otolith.spaces s on s.space = own.space
        where own.principal = known.principal;
    message := format('%s;%s;%s;%s;%s', known.key, known.principal, readable, writable,
                      extract(epoch from clock_timestamp() + interval '1 hour')::bigint);
    return message || ';' || otolith.seal(message);
end $$;

create function otolith.opened() returns text[] language plpgsql stable security definer set search_path = pg_catalog as $$
declare parts text[] := string_to_array(current_setting('otolith.pass', true), ';');
begin
    if coalesce(array_length(parts, 1), 0) <> 6 or otolith.seal(array_to_string(parts[1:5], ';')) <> parts[6]
       or parts[5]::bigint < extract(epoch from clock_timestamp())
       or not exists (select from otolith.keys k where k.key = parts[1]::integer and k.revoked is null
                      and (k.expires is null or k.expires > clock_timestamp())) then
        return null;
    end if;
    return parts;
end $$;

create function otolith.readable() returns integer[] language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(string_to_array(nullif((otolith.opened())[3], ''), ',')::integer[], '{}') $$;
create function otolith.writable() returns integer[] language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(string_to_array(nullif((otolith.opened())[4], ''), ',')::integer[], '{}') $$;
create function otolith.principal() returns integer language sql stable security definer set search_path = pg_catalog as $$
    select (otolith.opened())[2]::integer $$;

create function otolith.permit(pass text, named text) returns integer language plpgsql security definer set search_path = pg_catalog as $$
declare here integer;
begin
    if (select rolsuper or rolbypassrls from pg_roles where rolname = session_user) then
        raise exception 'this login may see every space; log in as one that may not' using errcode = '28000';
    end if;
    perform set_config('otolith.pass', coalesce(pass, ''), true);
    if otolith.opened() is null then
        raise exception 'the pass is not valid' using errcode = '28000';
    end if;
    select space into here from otolith.spaces where name = named and space = any (otolith.readable());
    if here is null then
        raise exception 'there is no such space, or it is not open to you' using errcode = '3D000';
    end if;
    return here;
end $$;

-- What a row says of itself is written here, whoever writes the row

create function otolith.stamped() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
    new.author := otolith.principal();
    new.written := clock_timestamp();
    if tg_table_name = 'documents' then
        new.stamp := gen_random_uuid();
        new.tx := pg_current_xact_id();
        new.tick := nextval('otolith.ticks');
        new.size := coalesce(length(new.body), 0);
        new.digest := sha256(new.body);
        if tg_op = 'INSERT' then
            new.id := ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 15))::bit(60)::bigint;
        else
            new.id := old.id;
        end if;
    end if;
    return new;
end $$;
create trigger stamped before insert or update on otolith.documents for each row execute function otolith.stamped();
create trigger stamped before insert on otolith.lines for each row execute function otolith.stamped();

alter table otolith.documents enable row level security;
alter table otolith.documents force row level security;
alter table otolith.lines enable row level security;
alter table otolith.lines force row level security;
create policy reading on otolith.documents for select using (space = any ((select otolith.readable())::integer[]));
create policy adding on otolith.documents for insert with check (space = any ((select otolith.writable())::integer[]));
create policy changing on otolith.documents for update using (space = any ((select otolith.writable())::integer[]))
    with check (space = any ((select otolith.writable())::integer[]));
create policy removing on otolith.documents for delete using (space = any ((select otolith.writable())::integer[]));
create policy reading on otolith.lines for select using (space = any ((select otolith.readable())::integer[]));
create policy adding on otolith.lines for insert with check (space = any ((select otolith.writable())::integer[]));
create policy removing on otolith.lines for delete using (space = any ((select otolith.writable())::integer[]));

-- The calls of the tree; each brings its pass. The first letter of an answer says how it went.

create function otolith.whole(here integer, named text) returns bytea language sql stable as $$
    select coalesce(d.body, (select string_agg(l.body, ''::bytea order by l.n) from otolith.lines l
                             where l.space = d.space and l.path = d.path), ''::bytea)
        from otolith.documents d where d.space = here and d.path = named $$;

create function otolith.versions(here integer, below text, wanted text)
    returns table (path text, stamp bytea, id bigint, size bigint, written double precision) language sql stable as $$
    select d.path, decode(md5(d.stamp::text || coalesce(l.total, 0) || '/' || coalesce(l.last, 0)), 'hex'), d.id,
           d.size + coalesce(l.size, 0), extract(epoch from coalesce(l.written, d.written))
        from otolith.documents d left join lateral (
            select count(*) total, max(n) last, sum(length(body)) size, max(written) written from otolith.lines
                where d.body is null and lines.space = d.space and lines.path = d.path) l on true
        where d.space = here and (wanted is null or d.path = wanted)
              and (below = '' or (d.path > below || '/' and d.path < below || '0')) $$;

create function otolith.scan(pass text, named text, below text)
    returns table (path text, stamp bytea, id bigint) language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select v.path, v.stamp, v.id from otolith.versions(here, below, null) v;
end $$;

create function otolith.look(pass text, named text, wanted text)
    returns table (path text, stamp bytea, id bigint, size bigint, written double precision) language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select * from otolith.versions(here, '', wanted);
end $$;

create function otolith.read(pass text, named text, wanted text)
    returns table (body bytea, stamp bytea, id bigint) language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select otolith.whole(here, wanted), v.stamp, v.id from otolith.versions(here, '', wanted) v;
end $$;

create function otolith.write(pass text, named text, wanted text, given bytea, replacing bytea)
    returns table (stamp bytea, id bigint) language plpgsql as $$
declare here integer := otolith.permit(pass, named); done boolean := false;
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    if replacing is null then
        insert into otolith.documents (space, path, body) values (here, wanted, given) on conflict do nothing;
        done := found;
    else
        perform from otolith.documents d where d.space = here and d.path = wanted for update;
        if sha256(otolith.whole(here, wanted)) = replacing then
            update otolith.documents d set body = given where d.space = here and d.path = wanted;
            delete from otolith.lines l where l.space = here and l.path = wanted;
            done := true;
        end if;
    end if;
    if done then
        return query select v.stamp, v.id from otolith.versions(here, '', wanted) v;
    end if;
end $$;

create function otolith.append(pass text, named text, wanted text, given bytea, opening bytea) returns void language plpgsql as $$
declare here integer := otolith.permit(pass, named); last bytea;
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    insert into otolith.documents (space, path, body) values (here, wanted, null) on conflict do nothing;
    if found then
        given := opening || given;
    else
        select d.body into last from otolith.documents d
            where d.space = here and d.path = wanted and d.body is not null for update;
        if found then  -- a whole document begins to grow
            update otolith.documents d set body = null where d.space = here and d.path = wanted;
            if length(last) > 0 then
                insert into otolith.lines (space, path, body) values (here, wanted, last);
            else
                given := opening || given;
            end if;
        else
            select l.body into last from otolith.lines l where l.space = here and l.path = wanted order by n desc limit 1;
        end if;
        if length(last) > 0 and get_byte(last, length(last) - 1) <> 10 then given := '\x0a' || given; end if;
    end if;
    insert into otolith.lines (space, path, body) values (here, wanted, given);
end $$;

create function otolith.move(pass text, named text, wanted text, target text) returns text language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    if exists (select from otolith.documents d where d.space = here and d.path = target) then return 'taken'; end if;
    update otolith.documents d set path = target where d.space = here and d.path = wanted;
    if not found then return 'missing'; end if;
    insert into otolith.lines (space, path, body)
        select l.space, target, l.body from otolith.lines l where l.space = here and l.path = wanted order by n;
    delete from otolith.lines l where l.space = here and l.path = wanted;
    return 'done';
end $$;

create function otolith.remove(pass text, named text, wanted text) returns boolean language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    delete from otolith.lines l where l.space = here and l.path = wanted;
    delete from otolith.documents d where d.space = here and d.path = wanted;
    return found;
end $$;

create function otolith.identity(pass text, named text) returns text language plpgsql security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named);
begin
    return format('%s/%s/%s/%s', (select system_identifier from pg_control_system()),
                  (select oid from pg_database where datname = current_database()), here, otolith.principal());
end $$;

create function otolith.schema_version() returns integer language sql stable security definer set search_path = pg_catalog as $$
    select version from otolith.about $$;

-- Rights: the application's role owns nothing, bypasses nothing and reads no secret

do $$ begin
    if not exists (select from pg_roles where rolname = 'otolith_app') then create role otolith_app nologin; end if;
end $$;
revoke all on all tables in schema otolith from public;
revoke all on all functions in schema otolith from public;
grant usage on schema otolith to otolith_app;
grant select, insert, update, delete on otolith.documents to otolith_app;
grant select, insert, delete on otolith.lines to otolith_app;
grant execute on function otolith.enter, otolith.readable, otolith.writable, otolith.principal, otolith.permit, otolith.whole,
    otolith.versions, otolith.scan, otolith.look, otolith.read, otolith.write, otolith.append, otolith.move, otolith.remove,
    otolith.identity, otolith.schema_version to otolith_app;

-- What only the owner of the schema may do

create function otolith.told(verb text, what text) returns text language sql as $$
    insert into otolith.audit (verb, what) values (verb, what); select what $$;

create function otolith.make_login(named text, secret text) returns boolean language plpgsql as $$
declare made boolean := not exists (select from pg_roles where rolname = named);
begin
    if made then execute format('create role %I login password %L', named, secret); end if;
    execute format('grant otolith_app to %I', named);
    perform otolith.told('login', named);
    return made;
end $$;

create function otolith.make_space(named text, sort text) returns text language sql as $$
    insert into otolith.spaces (name, kind) values (named, sort);
    select otolith.told('space', format('%s (%s)', named, sort)) $$;

create function otolith.make_member(space_name text, who text, sort text, for_whom text, rank text) returns text language plpgsql as $$
declare here integer; person integer; other integer;
begin
    select space into here from otolith.spaces where name = space_name;
    if here is null then raise exception 'there is no space %', space_name using errcode = '3D000'; end if;
    if for_whom is not null then
        select principal into other from otolith.principals where name = for_whom;
        if other is null then raise exception 'there is nobody named %', for_whom using errcode = '3D000'; end if;
    end if;
    insert into otolith.principals (name, kind, behalf) values (who, sort, other) on conflict (name) do nothing;
    select principal into person from otolith.principals where name = who;
    if rank is null then
        delete from otolith.members m where m.space = here and m.principal = person;
    else
        insert into otolith.members (space, principal, role) values (here, person, rank)
            on conflict (space, principal) do update set role = excluded.role;
    end if;
    return otolith.told('member', format('%s is %s of %s', who, coalesce(rank, 'no longer a member'), space_name));
end $$;

create function otolith.make_key(who text, hashed bytea, rights text[], until timestamptz) returns integer language plpgsql as $$
declare made integer;
begin
    insert into otolith.keys (principal, digest, scopes, expires)
        select principal, hashed, rights, until from otolith.principals where name = who returning key into made;
    if made is null then raise exception 'there is nobody named %', who using errcode = '3D000'; end if;
    perform otolith.told('key', format('key %s of %s: %s', made, who, array_to_string(rights, ' ')));
    return made;
end $$;

create function otolith.revoke(which integer) returns text language plpgsql as $$
begin
    update otolith.keys set revoked = clock_timestamp() where key = which and revoked is null;
    if not found then raise exception 'there is no such key' using errcode = '3D000'; end if;
    return otolith.told('revoke', format('key %s', which));
end $$;

create function otolith.report() returns table (kind text, name text, says text) language sql stable as $$
    select 'space', s.name, format('%s: %s', s.kind, coalesce(string_agg(format('%s (%s)', p.name, m.role), ', ' order by p.name), 'nobody'))
        from otolith.spaces s left join otolith.members m using (space) left join otolith.principals p using (principal)
        group by s.space, s.name, s.kind
    union all select 'key', k.key::text, format('%s: %s%s%s%s', p.name, array_to_string(k.scopes, ' '),
                     coalesce(', until ' || to_char(k.expires at time zone 'UTC', 'YYYY-MM-DD'), ''),
                     coalesce(', last used ' || to_char(k.used at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ', never used'),
                     coalesce(', revoked ' || to_char(k.revoked at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ''))
        from otolith.keys k join otolith.principals p using (principal)
    union all select 'audit', to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), format('%s %s by %s', verb, what, author)
        from otolith.audit
    order by 1 desc, 2 $$;
revoke all on function otolith.told, otolith.make_login, otolith.make_space, otolith.make_member, otolith.make_key, otolith.revoke, otolith.report
    from public;
