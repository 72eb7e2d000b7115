/* Records of the log, and entries by their keys. */

static void put32(struct Bytes *bytes, uint32_t number)
{
    put(bytes, &number, sizeof number);
}

static void put64(struct Bytes *bytes, uint64_t number)
{
    put(bytes, &number, sizeof number);
}

static void put_text(struct Bytes *bytes, const char *text)
{
    put(bytes, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static uint64_t hash_of(const char *data, size_t size)
{
    uint64_t hash = size, word;
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(&word, data, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; size; data++, size--)
        hash = (hash ^ (uint8_t)*data) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

/* What has a key: it is made when the key comes first, and stays. */
struct Entry {
    struct Entry *after;
    uint64_t hash;
    size_t size;
    uint32_t number;
    uint32_t kinds; /* of launches of a kernel */
    uint32_t tries; /* to capture a launch of a class of sizes that are left */
    char key[];
};

static struct Entry *entries[1 << 14]; /* lists of those with one hash */

/* The entry of a key; NULL where it has none. */
static struct Entry *known_entry(const struct Bytes *key)
{
    uint64_t hash = hash_of(key->data, key->size);
    struct Entry *entry = entries[hash % LENGTH(entries)];
    while (entry && (entry->hash != hash || entry->size != key->size || memcmp(entry->key, key->data, key->size)))
        entry = entry->after;
    return entry;
}

/* An entry for a key that has none; one that nobody finds where there is no memory. */
static struct Entry *new_entry(const struct Bytes *key)
{
    static struct Entry unfound;
    uint64_t hash = hash_of(key->data, key->size);
    struct Entry **first = &entries[hash % LENGTH(entries)], *entry;
    if (!IS_ON || !(entry = allocated(calloc(1, sizeof *entry + key->size))))
        return &unfound; /* The key itself may be cut, too. */
    entry->after = *first;
    entry->hash = hash;
    entry->size = key->size;
    memcpy(entry->key, key->data, key->size);
    return *first = entry;
}
